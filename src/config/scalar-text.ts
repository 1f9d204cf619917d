/**
 * What unquoted text means: the rules of OmegaConf's YAML loader, so that a file means here what it meant
 * there.
 *
 * They differ from YAML 1.2 (`yes` is true, `017` is octal) and from plain YAML 1.1 (`1e-5` is a number,
 * `y` is text). One departure: `1:30` is text and not 90, because placements look like that.
 */
import type { Scalar } from "./tree.ts";

const nulls = new Set(["", "~", "null", "Null", "NULL"]);
const truths = /^(?:yes|Yes|YES|true|True|TRUE|on|On|ON)$/;
const falsehoods = /^(?:no|No|NO|false|False|FALSE|off|Off|OFF)$/;
const decimal = /^[-+]?(?:0|[1-9][0-9_]*)$/;
const based = /^([-+]?)0(b[01_]+|x[0-9a-fA-F_]+|[0-7_]+)$/;
const float =
  /^[-+]?(?:[0-9][0-9_]*\.[0-9_]*(?:[eE][-+]?[0-9]+)?|[0-9][0-9_]*[eE][-+]?[0-9]+|\.[0-9][0-9_]*(?:[eE][-+]?[0-9]+)?)$/;
const infinity = /^([-+]?)\.(?:inf|Inf|INF)$/;
const notANumber = /^\.(?:nan|NaN|NAN)$/;

export function readScalar(text: string): Scalar {
  if (nulls.has(text)) return null;
  if (truths.test(text)) return true;
  if (falsehoods.test(text)) return false;
  return readNumber(text) ?? text;
}

export function readNumber(text: string): number | undefined {
  if (decimal.test(text) || float.test(text)) return Number(text.replaceAll("_", ""));
  const endless = infinity.exec(text);
  if (endless) return endless[1] === "-" ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  if (notANumber.test(text)) return Number.NaN;
  const [, sign, digits] = based.exec(text.replaceAll("_", "")) ?? [];
  if (digits === undefined) return undefined;
  const size = /^[bx]/.test(digits) ? Number(`0${digits}`) : Number.parseInt(digits, 8);
  return sign === "-" ? -size : size;
}
