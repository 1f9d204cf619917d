/** Learning claims: their files, their results, and what these come to. */
export { armsOf, type Claim, readClaim } from "./claim-file.ts";
export { gatherRun, writeClaim, writeClaimPages } from "./claim-folder.ts";
export { type ClaimResults, readClaimResults, runName } from "./claim-results.ts";
export { verdictOf } from "./verdict.ts";
