"""JavaScript for the CPU, made ahead of time: functions of raw bodies, and routines.

expr.py      scalar expressions as TypeScript
raw.py       a raw body as a function
bodies.py    its steps
routines.py  routines as functions
brought.py   what an op brings of both"""
