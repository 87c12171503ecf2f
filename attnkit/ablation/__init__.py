"""What a head is good for: take it out, and see what becomes of the model.

``ablate`` acts where a module weighs the values of its heads, in ``combine_heads``, and on nothing
else: the projections, the mask and the other heads stay what they are. ``head_importance`` asks the
gradient the same question, for all heads at once.
"""

from attnkit.ablation.context import ablate
from attnkit.ablation.found import attention_modules
from attnkit.ablation.probes import head_importance, mean_outputs

__all__ = ["ablate", "attention_modules", "head_importance", "mean_outputs"]
