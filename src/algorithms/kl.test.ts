import { test } from "node:test";
import { tensor } from "#tensor";
import { assertClose } from "../../test/support/close.ts";
import { klDivergence } from "./kl.ts";

const [now, reference] = [tensor([-1, -2]), tensor([-1.5, -1])];

test("k1, abs, k2 and k3 equal their formulas", () => {
  assertClose(klDivergence(now, reference, "k1"), [0.5, -1]);
  assertClose(klDivergence(now, reference, "abs"), [0.5, 1]);
  assertClose(klDivergence(now, reference, "k2"), [0.125, 0.5]);
  assertClose(klDivergence(now, reference, "k3"), [Math.exp(-0.5) + 0.5 - 1, Math.E - 1 - 1]);
});

test("k3 is zero where the policies agree and bounded where they do not", () => {
  assertClose(klDivergence(tensor([-1, -100]), tensor([-1, 0]), "low_var_kl"), [0, 10]);
});
