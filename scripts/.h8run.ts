const { run } = await import("/work/main/test/parity/worlds.ts");
const cases = await run(process.argv[2]);
for (const c of cases) console.log(c.ok ? "ok  " : "FAIL", c.name, c.worst, c.tolerance);
console.log(cases.filter((c: any) => c.ok).length, "of", cases.length);
