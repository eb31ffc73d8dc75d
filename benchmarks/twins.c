/* Two of the learners in plain C: the reference for the timing of the compiled kernels.
 *
 * Both play a block of rounds, (n_rounds, n_actions) row by row, from the initial state, and write the weights
 * played. They return 0, or -1 if memory cannot be allocated. Algorithm 3 needs n_actions >= 2.
 */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- Optimistic-Adapt-ML-Prod (Algorithm 3): ln w = rate * potential, alpha by Newton's method ---- */

static const double RATE_CAP = 0.25;
static const double CLOSE = 1e-12;
static const int MOST_STEPS = 8;

/* Compute the weights, and return their loss under the guess. */
static double solve(size_t n, const double *restrict rate, const double *restrict potential,
                    const double *restrict guess, double *restrict tilt, double *restrict weights)
{
    double alpha = 0.0, total = 1.0, top = -INFINITY;
    for (size_t k = 0; k < n; k++) {
        tilt[k] = rate[k] * (potential[k] - guess[k]);
        if (tilt[k] > top)
            top = tilt[k];
        alpha += weights[k] * guess[k];
    }
    for (int i = 0; i < MOST_STEPS; i++) {
        double mean_rate = 0.0, mean_guess = 0.0, both = 0.0;
        total = 0.0;
        for (size_t k = 0; k < n; k++) {
            double share = rate[k] * exp(tilt[k] - top + rate[k] * alpha);
            weights[k] = share;
            total += share;
            mean_rate += share * rate[k];
            mean_guess += share * guess[k];
            both += share * rate[k] * guess[k];
        }
        mean_guess /= total;
        double slope = (both - mean_rate * mean_guess) / total;
        double step = (alpha - mean_guess) / (1.0 - slope);
        if (fabs(step) <= CLOSE)
            break;
        alpha -= step;
    }
    for (size_t k = 0; k < n; k++)
        weights[k] /= total;
    return alpha;
}

int optimistic_adapt_ml_prod(size_t n_rounds, size_t n, const double *restrict losses, double *restrict played)
{
    double *memory = malloc(6 * n * sizeof *memory);
    if (!memory)
        return -1;
    double *restrict rate = memory, *restrict potential = memory + n, *restrict deviation = memory + 2 * n;
    double *restrict guess = memory + 3 * n, *restrict weights = memory + 4 * n, *restrict tilt = memory + 5 * n;
    double scale = log((double)n), alpha = 0.0;
    for (size_t k = 0; k < n; k++) {
        rate[k] = fmin(RATE_CAP, sqrt(scale));
        potential[k] = -scale / RATE_CAP;
        deviation[k] = guess[k] = 0.0;
        weights[k] = 1.0 / (double)n;
    }
    for (size_t t = 0; t < n_rounds; t++, losses += n, played += n) {
        double loss_of_play = 0.0;
        for (size_t k = 0; k < n; k++) {
            played[k] = weights[k];
            loss_of_play += weights[k] * losses[k];
        }
        for (size_t k = 0; k < n; k++) {
            double regret = loss_of_play - losses[k];
            double surprise = regret - (alpha - guess[k]);
            double squared = surprise * surprise;
            potential[k] += regret - rate[k] * squared;
            deviation[k] += squared;
            double root = sqrt(scale / (1.0 + deviation[k]));
            rate[k] = root < RATE_CAP ? root : RATE_CAP;
            guess[k] = losses[k];
        }
        alpha = solve(n, rate, potential, guess, tilt, weights);
    }
    free(memory);
    return 0;
}

/* ---- Optimistic projected gradient descent (Algorithm 2): two proximal steps a round ---- */

/* Project on the simplex in place: raise the threshold until nothing more falls below it (Michelot, 1986). */
static void project(size_t n, double *point)
{
    double threshold = point[0];
    for (size_t k = 1; k < n; k++)
        threshold = point[k] > threshold ? point[k] : threshold;
    threshold -= 1.0;
    for (size_t above = n + 1;;) {
        size_t kept = 0;
        double total = 0.0;
        for (size_t k = 0; k < n; k++) {
            int inside = point[k] > threshold;
            kept += inside;
            total += inside ? point[k] : 0.0;
        }
        if (kept >= above)
            break;
        above = kept;
        threshold = (total - 1.0) / (double)kept;
    }
    for (size_t k = 0; k < n; k++) {
        double rest = point[k] - threshold;
        point[k] = rest > 0.0 ? rest : 0.0;
    }
}

static void proximal_step(size_t n, const double *start, const double *losses, double step, double *out)
{
    double least = losses[0];
    for (size_t k = 1; k < n; k++)
        least = losses[k] < least ? losses[k] : least;
    for (size_t k = 0; k < n; k++)
        out[k] = start[k] - step * (losses[k] - least);
    project(n, out);
}

/* `step` is finite. */
int optimistic_gd(size_t n_rounds, size_t n, const double *restrict losses, double step, double *restrict played)
{
    double *memory = malloc(2 * n * sizeof *memory);
    if (!memory)
        return -1;
    double *center = memory, *weights = memory + n;
    for (size_t k = 0; k < n; k++)
        center[k] = weights[k] = 1.0 / (double)n;
    for (size_t t = 0; t < n_rounds; t++, losses += n, played += n) {
        memcpy(played, weights, n * sizeof *played);
        proximal_step(n, center, losses, step, center);
        proximal_step(n, center, losses, step, weights);
    }
    free(memory);
    return 0;
}
