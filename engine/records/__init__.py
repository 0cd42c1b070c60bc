"""Game records and notations: the objective match, backgammon exchange, xiangqi, tabletop curling."""
