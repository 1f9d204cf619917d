"""Weights & Biases, fed by lines. `mode`: online, offline or disabled; offline runs are sent by `wandb sync`."""
import os

from lines import serve


def start(options):
    if options.get("proxy"):
        os.environ["HTTPS_PROXY"] = options["proxy"]
    import wandb

    run = wandb.init(
        project=options["project"],
        name=options["experiment"],
        entity=options.get("entity"),
        dir=options["folder"],
        config=options["config"],
        mode=options.get("mode") or None,
        id=options.get("run_id"),
        resume="allow" if options.get("run_id") else None,
    )
    facts = {"id": run.id, "url": run.url, "folder": os.path.dirname(run.dir)}
    return facts, lambda metrics, step: run.log(metrics, step=step), run.finish


serve("wandb", start)
