// Response times for one signed-in person while anonymous clients send far more requests than can be served.
// usage: bench/overload [--seconds S] [--connections N] [--commits N]
import { execFile, execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { executable, startHearthServer } from './hearth-server.ts';
import { requirePrograms } from './peers/require-programs.ts';
import { readNumberOption } from './harness.ts';
import { fillRepository } from './sample-history.ts';

requirePrograms({ wrk: 'wrk' });
const seconds = readNumberOption('seconds', 10);
const connections = readNumberOption('connections', 200);
const hearth = await startHearthServer();
await fillRepository(hearth.repository);
const git = (...words: string[]): string[] =>
  execFileSync('git', ['-C', hearth.repository, ...words], { maxBuffer: 1e9 })
    .toString()
    .trim()
    .split('\n');
const commits = git('log', '--format=%h');
const files = git('ls-tree', '-r', '--name-only', 'HEAD');
const B = '/repos/alice/bench';

const password = 'a password of the benchmark';
const signIn = async (): Promise<string> => {
  const env = { PATH: '/usr/bin:/bin', HOME: hearth.folder };
  const child = execFile(executable, ['user', 'add', 'carol', '--password-stdin'], { cwd: hearth.folder, env });
  child.stdin!.end(`${password}\n`);
  await new Promise((resolve) => child.once('close', resolve));
  const response = await fetch(`${hearth.url}/login`, {
    method: 'POST',
    redirect: 'manual',
    headers: { Origin: hearth.url },
    body: new URLSearchParams({ username: 'carol', password }),
  });
  const cookie = response.headers.getSetCookie().find((each) => each.startsWith('hearth_session='));
  if (cookie === undefined) throw new Error(`carol cannot sign in: ${response.status}`);
  return cookie.split(';')[0]!;
};
const cookie = await signIn();

let turn = 0;
/** The pages that a person views, each for the first time. */
const nextPage = (): string => {
  turn += 1;
  const commit = commits[(turn * 37) % commits.length]!;
  return [
    '/',
    B,
    `${B}/commit/${commit}`,
    `${B}/tree/${commit}/src`,
    `${B}/blob/${commit}/${files[turn % files.length]}`,
    `${B}/commits/${commit}`,
  ][turn % 6]!;
};

interface Noticed {
  p50: number;
  p95: number;
  worst: number;
  refused: number;
  pages: number;
}

async function look(until: number): Promise<Noticed> {
  const took: number[] = [];
  let refused = 0;
  while (performance.now() < until) {
    const startedAt = performance.now();
    const response = await fetch(hearth.url + nextPage(), { headers: { Cookie: cookie } });
    await response.arrayBuffer();
    if (response.status === 429 || response.status === 503) refused += 1;
    else took.push(performance.now() - startedAt);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  took.sort((a, b) => a - b);
  const at = (share: number): number =>
    Math.round(took[Math.min(took.length - 1, Math.floor(took.length * share))] ?? NaN);
  return { p50: at(0.5), p95: at(0.95), worst: at(1), refused, pages: took.length };
}

/** @param request the body of a Lua function that returns the next request of the anonymous clients */
async function underLoad(name: string, request: string): Promise<string> {
  const script = path.join(hearth.folder, 'crowd.lua');
  writeFileSync(
    script,
    `
    local commits = { ${commits.map((each) => `"${each}"`).join(',')} }
    local files = { ${files.map((each) => `"${each}"`).join(',')} }
    local count = {}
    local threads = {}
    function setup(thread) table.insert(threads, thread) end
    function init() math.randomseed(4711); answers = {} end
    local function page()
      local commit = commits[math.random(#commits)]
      local kind = math.random(3)
      if kind == 1 then return "${B}/commit/" .. commit end
      if kind == 2 then return "${B}/blame/" .. commit .. "/" .. files[math.random(#files)] end
      return "${B}/commits/" .. commit
    end
    local function network() return "10." .. math.random(250) .. "." .. math.random(250) .. "." .. math.random(250) end
    function request() ${request} end
    function response(status) answers[status] = (answers[status] or 0) + 1; said = ""; for s, n in pairs(answers) do said = said .. s .. "=" .. n .. " " end end
    function done() io.write("said " .. (threads[1]:get("said") or "") .. "\\n") end`,
  );
  const until = performance.now() + seconds * 1000;
  const [noticed, { stdout }] = await Promise.all([
    look(until - 500),
    request === ''
      ? { stdout: '' }
      : promisify(execFile)('wrk', [
          '-t1',
          `-c${connections}`,
          `-d${seconds}s`,
          '--timeout',
          '30s',
          '-s',
          script,
          hearth.url,
        ]),
  ]);
  const responses = [...(/^said (.*)$/m.exec(stdout)?.[1] ?? '').matchAll(/(\d+)=(\d+)/g)]
    .sort()
    .map(([, status, count]) => `${status}: ${Math.round(Number(count) / seconds)}/s`);
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  return `| ${name} | ${responses.join(', ') || '–'} | ${noticed.p50} | ${noticed.p95} | ${noticed.worst} | ${noticed.refused} of ${noticed.pages + noticed.refused} |`;
}

const rows = [
  await underLoad('nobody else', ''),
  await underLoad('commits, blame and history, from one network', 'return wrk.format("GET", page())'),
  await underLoad(
    'the same from 200 networks',
    'return wrk.format("GET", page(), { ["X-Forwarded-For"] = network() })',
  ),
  await underLoad(
    'searches',
    'return wrk.format("GET", "/search?q=" .. string.char(96 + math.random(26), 96 + math.random(26)), { ["X-Forwarded-For"] = network() })',
  ),
  await underLoad(
    'lists of refs',
    `return wrk.format("GET", "/git/alice/bench.git/info/refs?service=git-upload-pack", { ["X-Forwarded-For"] = network() })`,
  ),
  await underLoad(
    'wrong passwords',
    `return wrk.format("POST", "/login", { ["X-Forwarded-For"] = network(), ["Content-Type"] = "application/x-www-form-urlencoded" }, "username=carol&password=wrong" .. math.random(1000))`,
  ),
];
console.log(
  `| ${connections} connections ask without a pause for | and are answered | page p50, ms | p95 | worst | refused |\n| --- | --- | ---: | ---: | ---: | ---: |\n${rows.join('\n')}`,
);
await hearth.stop();
