"""Xiangqi: a board of its own, WXF in two dialects, Chinese, coordinates, whole games (RECORDS §3)."""

from engine.records.xiangqi.game import Game, steps, write
from engine.records.xiangqi.notation import FORMS
from engine.records.xiangqi.reading import form_of, read, recognise

NAME = "xiangqi"

__all__ = ["FORMS", "NAME", "Game", "form_of", "read", "recognise", "steps", "write"]
