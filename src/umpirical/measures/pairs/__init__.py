"""Measures of pairs of answers, compared in both orders or graded one by one."""
