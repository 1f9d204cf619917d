/**
 * Whether a job's evaluations leave time to learn, decided while the first of them runs.
 *
 * Nobody knows how fast a machine is before it has played some episodes. When the evaluations before and after the training would
 * take more than half of the job's time, both play fewer starts: the same ones, the first of each task. Fewer starts widen the
 * intervals; fewer training steps take away what is to be measured.
 */
import { formatDuration } from "#metrics";

export interface EvaluationSpeed {
  /** Seconds that the whole job may take. */
  readonly limit: number;
  /** Seconds of one round of evaluations: until episodes are played, and while they are. */
  readonly opening: number;
  readonly playing: number;
  /** Seconds of a training step, as far as can be told from the episodes that it plays. */
  readonly step: number;
  /** Seconds of film, picture and files. */
  readonly report: number;
}

export interface EvaluationPlan {
  /** Of every task's starts; 1: all. */
  readonly share: number;
  /** What the user is told, where there is something to tell. */
  readonly notes: readonly string[];
}

/** At most this part of the job's time goes into evaluations and report; where it would, they are made to take `aim`. */
const most = 0.5;
const aim = 0.4;
/** Fewer starts than this part measure nothing: 5 of 50 for each task. */
const leastShare = 0.1;
/** Fewer training steps than these change nothing that could be measured. */
const fewSteps = 5;

export function planEvaluations(speed: EvaluationSpeed): EvaluationPlan {
  const { limit, opening, playing, report } = speed;
  const whole = around(speed, 1);
  if (limit <= 0 || whole <= most * limit) return { share: 1, notes: [] };
  const fitting = ((aim * limit - report) / 2 - opening) / playing;
  const share = Math.min(1, Math.max(leastShare, Math.floor(100 * fitting) / 100));
  const notes = [
    `  the evaluations and the report would take about ${formatDuration(whole)} of ${formatDuration(limit)} here: they play ` +
      `${Math.round(100 * share)} % of each task's starts; for all of them: --minutes ${Math.ceil(whole / most / 60)}`,
  ];
  const needed = around(speed, leastShare) + fewSteps * speed.step;
  if (needed > limit)
    notes.push(
      `  --minutes ${round(limit / 60)} is too short to learn something here: a training step takes about ` +
        `${formatDuration(speed.step)}; the least that makes sense: --minutes ${Math.ceil(needed / 60)}`,
    );
  return { share, notes };
}

/** Seconds of all that is not learning. */
const around = ({ opening, playing, report }: EvaluationSpeed, share: number): number =>
  2 * (opening + share * playing) + report;

const round = (minutes: number): number => Math.round(100 * minutes) / 100;
