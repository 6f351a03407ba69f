"""stub"""

from functools import cache


class Worth:
    def probabilities(self, texts):
        return [1.0 for _ in texts]


@cache
def worth():
    return Worth()
