"""The pages of beliefs: saved questions and relation types, one graph answered, one observation, one law.

What these pages say grants no act: confidence is not authority, and each of them says so.
"""
