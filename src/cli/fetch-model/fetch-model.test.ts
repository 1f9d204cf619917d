import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { type Files, TestHub } from "../../../test/support/model-hub.ts";
import { chooseFiles } from "./choose-files.ts";
import { settingFor } from "./command.ts";
import { fetchModel, repositoryFolder, repositoryOf, sourceFile } from "./index.ts";

const small = (text: string): Buffer => Buffer.from(text);
const config = small('{"model_type":"openvla"}');
const weights = Buffer.alloc(3_000_000, "weights");
const [first, second] = ["a".repeat(40), "b".repeat(40)];

/** The folders that the guides to OpenSora, Wan and EVAC print, with the files' names as printed. */
const openSora: Files = {
  ".gitattributes": small("*"),
  "README.md": small("a world"),
  "dataset_statistics.json": small("{}"),
  "dataset/traj0.npy": small("start 0"),
  "dataset/traj1.npy": small("start 1"),
  "model-00001.safetensors": weights,
  "model.safetensors.index.json": small("{}"),
  "config.json": small("{}"),
  "resnet_rm.pth": small("judge"),
  "vae/config.json": small("{}"),
  "vae/diffusion_pytorch_model.safetensors": small("autoencoder"),
};
const wan: Files = {
  "dataset/traj0.npy": small("start 0"),
  "dataset/traj0_kir.npy": small("start 0 with context"),
  "model-00001.safetensors": weights,
  "resnet_rm.pth": small("judge"),
  "Wan2.2_VAE.pth": small("autoencoder"),
};
const evac: Files = {
  "evac.ckpt": weights,
  "reward_model.pth": small("judge"),
  "world_model_buffer/libero_spatial/start 0.png": small("picture"),
};

const hub = new TestHub();
let environment: Record<string, string> = {};
before(async () => {
  environment = { HF_ENDPOINT: `${await hub.listen()}/` };
});
after(() => hub.close());
beforeEach(() => {
  hub.calm();
  hub.repositories.clear();
  const policy = {
    "config.json": config,
    "model.safetensors": weights,
    "pytorch_model.bin": small("pickled"),
  };
  hub.repositories.set("models/lab/policy", new Map([[first, policy]]));
});

const temporary = (): string => mkdtempSync(join(tmpdir(), "reverie-fetch-"));
const policy = (to: string, more: object = {}) =>
  fetchModel({ repo: "lab/policy", to, environment, ...more });
const source = (folder: string) => JSON.parse(readFileSync(join(folder, sourceFile), "utf8"));

test("a model's files are fetched, checked, and not fetched twice; pickled doubles are left out", async () => {
  const to = temporary();
  const said: string[] = [];
  const one = await policy(to, { say: (line: string) => said.push(line) });
  assert.deepEqual([one.files, one.fetched], [2, 2]);
  assert.deepEqual(readFileSync(join(to, "model.safetensors")), weights);
  assert.ok(!existsSync(join(to, "pytorch_model.bin")));
  assert.ok(
    said.some((line) => /left out.*: pytorch_model\.bin/.test(line)),
    said.join("\n"),
  );
  const two = await policy(to);
  assert.deepEqual([two.files, two.fetched], [2, 0]);
  assert.equal(await settingFor(to), `actor.model.model_path=${to}`);
});

const guides: [string, string, Files, RegExp, string[]][] = [
  [
    "an OpenSora world",
    "lab/opensora",
    openSora,
    /opensora_wm_hf_ckpt_path/,
    [".gitattributes", "README.md"],
  ],
  ["a Wan world", "lab/wan", wan, /wan_wm_hf_ckpt_path/, []],
  ["EVAC's dataset", "datasets/lab/evac", evac, /settings that name its files/, []],
];
for (const [what, repo, files, setting, left] of guides) {
  test(`${what} arrives with all that its guide lists: weights, judge, autoencoder, starts`, async () => {
    const to = temporary();
    hub.repositories.set(repo.startsWith("datasets/") ? repo : `models/${repo}`, new Map([[first, files]]));
    await fetchModel({ repo, to, environment });
    for (const [path, body] of Object.entries(files)) {
      const there = existsSync(join(to, path)) ? readFileSync(join(to, path)) : undefined;
      assert.deepEqual(there, left.includes(path) ? undefined : body, path);
    }
    assert.match(await settingFor(to), setting);
  });
}

test("all files are of one commit, asked for once, although the branch moves meanwhile", async () => {
  const to = temporary();
  const commits = hub.repositories.get("models/lab/policy");
  const move = (): void =>
    void commits?.set(second, { "config.json": small("{}"), "model.safetensors": config });
  const { commit } = await policy(to, { onBytes: move });
  assert.equal(commit, first);
  assert.deepEqual(readFileSync(join(to, "model.safetensors")), weights);
  assert.equal(source(to).commit, first);
  assert.ok(source(to).files["model.safetensors"].sha256);
  const said: string[] = [];
  assert.equal((await policy(to, { say: (line: string) => said.push(line) })).commit, second);
  assert.ok(
    said.some((line) => line.includes(`holds commit ${first}`)),
    said.join("\n"),
  );
  assert.deepEqual(readFileSync(join(to, "model.safetensors")), config);
  assert.equal((await policy(temporary(), { revision: first })).commit, first);
});

test("a download that broke off goes on where it stopped", async () => {
  const to = temporary();
  hub.breakAfter = 1_000_000;
  await assert.rejects(policy(to), /broke off .* run the same command again/);
  hub.breakAfter = Number.POSITIVE_INFINITY;
  await policy(to);
  assert.match(hub.asked.at(-1) ?? "", /model\.safetensors bytes=\d+-$/);
  assert.deepEqual(readFileSync(join(to, "model.safetensors")), weights);
});

test("bytes that do not have the published hash are refused and removed", async () => {
  const to = temporary();
  hub.lies = true;
  await assert.rejects(policy(to), /its hash is not the published one/);
  assert.ok(!existsSync(join(to, "model.safetensors")));
  hub.lies = false;
  await policy(to);
  assert.deepEqual(readFileSync(join(to, "model.safetensors")), weights);
});

test("a file of the right size with other bytes is fetched again", async () => {
  const to = temporary();
  await policy(to);
  writeFileSync(join(to, "model.safetensors"), Buffer.alloc(weights.length, "other"));
  assert.equal((await policy(to)).fetched, 1);
  assert.deepEqual(readFileSync(join(to, "model.safetensors")), weights);
});

for (const [what, at, message] of [
  ["question", /^\/api/, /cannot be asked for lab\/policy \(no answer for 0\.3 s\)/],
  ["download", /resolve.*model\.safetensors/, /broke off \(no byte for 0\.3 s\); run the same command again/],
] as const) {
  test(`a ${what} that nobody answers ends by itself`, { timeout: 20_000 }, async () => {
    hub.silentAt = at;
    await assert.rejects(policy(temporary(), { patience: 300 }), message);
  });
}

test("a Hub that asks for a token gets HF_TOKEN, and a refusal says which variable to set", async () => {
  hub.token = "secret";
  await assert.rejects(policy(temporary()), /without a token .*set HF_TOKEN/);
  const wrong = { environment: { ...environment, HF_TOKEN: "guess" } };
  await assert.rejects(policy(temporary(), wrong), /does not let this HF_TOKEN read/);
  assert.equal(
    (await policy(temporary(), { environment: { ...environment, HF_TOKEN: "secret" } })).fetched,
    2,
  );
});

test("what is not there is said to be so, and a wrong name never reaches the network", async () => {
  const other = (repo: string, hubAddress = environment) =>
    fetchModel({ repo, to: temporary(), environment: hubAddress });
  await assert.rejects(other("lab/other"), /has no model lab\/other, .* a dataset is datasets\/lab\/other/);
  await assert.rejects(policy(temporary(), { revision: "v9" }), /not at this revision/);
  hub.asked.length = 0;
  for (const name of ["../etc", "policy", "lab/..", "datasets/x", "lab/policy/extra"])
    await assert.rejects(other(name), /is not a name on the Hugging Face Hub/);
  await assert.rejects(other("lab/policy", { HF_ENDPOINT: "mirror" }), /HF_ENDPOINT is "mirror"/);
  assert.deepEqual(hub.asked, []);
  await assert.rejects(
    other("lab/policy", { HF_ENDPOINT: "http://127.0.0.1:9" }),
    /for a mirror set HF_ENDPOINT/,
  );
});

test("names are taken as guides print them", () => {
  assert.deepEqual(repositoryOf("datasets/lab/a.b", {}), { kind: "dataset", name: "lab/a.b" });
  assert.deepEqual(repositoryOf("https://huggingface.co/lab/policy", {}), {
    kind: "model",
    name: "lab/policy",
  });
  assert.equal(repositoryFolder(repositoryOf("lab/a", {}), { REVERIE_HOME: "/data" }), "/data/models/lab/a");
  const starts = repositoryOf("datasets/lab/a", {});
  assert.equal(repositoryFolder(starts, { REVERIE_HOME: "/data" }), "/data/datasets/lab/a");
});

test("a server's path that leads out of the folder is refused", () => {
  for (const path of ["../../evil.safetensors", "/etc/passwd.json", "a\\..\\b.json"])
    assert.throws(
      () => chooseFiles([{ size: 1, path }], "model"),
      /leads out of its folder; nothing is fetched/,
    );
});

test("a copied folder is taken as it is, once; the same size with other bytes is copied again", async () => {
  const [from, to] = [temporary(), temporary()];
  await assert.rejects(policy(to, { from }), /there are no weights/);
  writeFileSync(join(from, "config.json"), config);
  writeFileSync(join(from, "model.safetensors"), weights);
  assert.equal((await policy(to, { from })).fetched, 2);
  assert.equal((await policy(to, { from })).fetched, 0);
  writeFileSync(join(to, "model.safetensors"), Buffer.alloc(weights.length, "other"));
  assert.equal((await policy(to, { from })).fetched, 1);
  assert.deepEqual(readFileSync(join(to, "model.safetensors")), weights);
  assert.deepEqual(hub.asked, []);
});

test("a copied world of files without a config.json is taken", async () => {
  const [from, to] = [temporary(), temporary()];
  for (const [path, body] of Object.entries(wan)) {
    mkdirSync(dirname(join(from, path)), { recursive: true });
    writeFileSync(join(from, path), body);
  }
  assert.equal((await fetchModel({ repo: "lab/wan", from, to, environment })).fetched, 5);
});

test("a copy of a fetched folder is checked against the published hashes, and keeps its commit", async () => {
  const [from, to] = [temporary(), temporary()];
  await policy(from);
  assert.equal((await policy(to, { from })).commit, first);
  writeFileSync(join(from, "model.safetensors"), Buffer.alloc(weights.length, "other"));
  await assert.rejects(policy(temporary(), { from }), /model\.safetensors is not the published file/);
});

test("a download of Hugging Face's own tool is checked against the hashes that it left", async () => {
  const from = temporary();
  const notes = join(from, ".cache", "huggingface", "download");
  mkdirSync(notes, { recursive: true });
  writeFileSync(join(from, "model.safetensors"), weights);
  const sha256 = createHash("sha256").update(weights).digest("hex");
  writeFileSync(join(notes, "model.safetensors.metadata"), `${second}\n${sha256}\n1.0\n`);
  assert.equal((await policy(temporary(), { from })).commit, second);
  writeFileSync(join(from, "model.safetensors"), "short");
  await assert.rejects(policy(temporary(), { from }), /is not the published file/);
});

test("a clone without Git LFS is recognized", async () => {
  const from = temporary();
  writeFileSync(
    join(from, "model.safetensors"),
    "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n",
  );
  await assert.rejects(policy(temporary(), { from }), /is a Git LFS pointer.*git lfs pull/);
});
