"""Competitions: entrants, stages, rounds, pairings, standings (§10, §12). Pure: times and lots come in as arguments."""
