/** What travels between env and rollout workers: observations one way, decisions the other. */
import type { Channel } from "#cluster";
import type { Observation, PolicyStep } from "#data";
import type { Tensor } from "#tensor";

export interface Question {
  /** The key of the asker's queue of answers. */
  readonly from: string;
  readonly observation: Observation;
  /** What is wanted: a decision, or only the critic's opinion of the observation. */
  readonly wants: "decision" | "values";
  /** One seed per row for what is random in a decision; none where nothing is. */
  readonly seeds?: readonly bigint[] | undefined;
}

export interface Answer {
  readonly step?: PolicyStep | undefined;
  readonly values?: Tensor | undefined; // float32 [B, V]
  readonly version: number;
}

/** An env worker's end: asks, and waits for the answer. The observation's tensors are freed once it is there. */
export class PolicyLine {
  readonly #from: string;
  readonly #to: string;
  readonly #questions: Channel<Question>;
  readonly #answers: Channel<Answer>;

  constructor(ends: { from: string; to: string; questions: Channel<Question>; answers: Channel<Answer> }) {
    this.#from = ends.from;
    this.#to = ends.to;
    this.#questions = ends.questions;
    this.#answers = ends.answers;
  }

  async decide(observation: Observation, seeds: readonly bigint[]): Promise<Answer & { step: PolicyStep }> {
    const answer = await this.#ask({ from: this.#from, observation, wants: "decision", seeds });
    if (!answer.step) throw new Error("internal: a decision was asked for and none came");
    return { ...answer, step: answer.step };
  }

  async value(observation: Observation): Promise<Tensor> {
    const { values } = await this.#ask({ from: this.#from, observation, wants: "values" });
    if (!values) throw new Error("internal: values were asked for and none came");
    return values;
  }

  async #ask(question: Question): Promise<Answer> {
    await this.#questions.send(this.#to, question);
    const answer = await this.#answers.receive(this.#from);
    if (!answer) throw new Error("internal: the rollout worker stopped answering");
    return answer;
  }
}
