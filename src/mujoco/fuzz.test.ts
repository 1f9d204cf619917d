import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { UserError } from "#registry";
import { ballAndArm } from "../../test/support/ball-and-arm.ts";
import { Model } from "./model.ts";
import { Simulation } from "./simulation.ts";

/** The scene with a piece cut out, a piece doubled, or some characters replaced. */
const damagedScene = fc
  .tuple(
    fc.nat(ballAndArm.length),
    fc.nat(40),
    fc.constantFrom("", "cut", "double"),
    fc.string({ maxLength: 6 }),
  )
  .map(([at, length, how, text]) => {
    const [before, piece, after] = [
      ballAndArm.slice(0, at),
      ballAndArm.slice(at, at + length),
      ballAndArm.slice(at + length),
    ];
    return before + (how === "cut" ? "" : how === "double" ? piece + piece : text) + after;
  });

test("a damaged model either loads and steps or is a user error; it never ends the process", () => {
  fc.assert(
    fc.property(damagedScene, (xml) => {
      try {
        using model = Model.fromXml(xml, { share: false });
        using simulation = new Simulation(model);
        simulation.step(2);
      } catch (error) {
        const known = error instanceof UserError || /MuJoCo: /.test((error as Error).message);
        assert.ok(known, String(error));
      }
    }),
    { numRuns: 400, seed: 1 },
  );
});

test("any number as an argument of a native call is an error or works; it never ends the process", () => {
  using model = Model.fromXml(ballAndArm);
  using simulation = new Simulation(model);
  const room = new Float64Array(3 * model.sizes.nv!);
  const kinds = fc.constantFrom("body", "centreOfMass", "geom", "site" as const);
  fc.assert(
    fc.property(fc.oneof(fc.integer(), fc.double()), kinds, (id, kind) => {
      const attempts = [
        () => simulation.jacobian(kind, id, room, room),
        () => simulation.contact(id),
        () => simulation.setOption("iterations", Math.min(50, Math.abs(id) || 1)),
      ];
      for (const attempt of attempts) {
        try {
          attempt();
        } catch (error) {
          assert.match((error as Error).message, /must be|MuJoCo/);
        }
      }
    }),
    { numRuns: 500, seed: 2 },
  );
});
