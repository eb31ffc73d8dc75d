"""A sweep on a Dask cluster of two worker processes of this machine."""

from distributed import Client, LocalCluster

from driftwise import Bernoulli, Environment, Hedge, OptimisticGD, Sweep, Switching

if __name__ == "__main__":  # worker processes import this file
    environments = {f"{n} segments": Environment(Switching(n, n_actions=5), Bernoulli()) for n in (2, 8)}
    sweep = Sweep(environments, [OptimisticGD.tuned, Hedge()], n_rounds=1000, n_runs=10, seed=1)
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster,
        Client(cluster) as client,
    ):
        results = sweep.run("out/cluster", client=client)
    for row in results.summaries():
        print(f"{row.place.environment}, {row.place.learner}: regret {row.regret.mean:.1f}")
