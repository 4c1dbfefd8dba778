"""The tables and figures of the papers, run again: every module in this folder is one study.

A study is one file that defines `STUDY`: its grid of runs, its tables, its claims and its pictures. The machinery
they share is in `framework`; `ordercast study --list` shows what there is.
"""
