// The repository that is served: one given with --repository, or a generated one that is always the same.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, rmSync } from 'node:fs';
import path from 'node:path';
import { readNumberOption, readTextOption } from './harness.ts';

/** Copies a history into the bare repository at `target`, packed with a bitmap as maintenance does. */
export async function fillRepository(target: string, { commits = 4000 } = {}): Promise<void> {
  const given = readTextOption('repository');
  if (given !== null) copyObjects(path.resolve(given), target);
  else await generate(target, readNumberOption('commits', commits));
  execFileSync('git', ['-C', target, 'repack', '-adbq'], { stdio: 'inherit' });
}

/** Branches and tags with all reachable objects; others are dropped by repacking. */
function copyObjects(source: string, target: string): void {
  const git = (at: string, args: string[], input = '') =>
    execFileSync('git', ['-C', at, ...args], { input, maxBuffer: 2 ** 28 }).toString();
  const folder = git(source, ['rev-parse', '--path-format=absolute', '--git-common-dir']).trim();
  cpSync(path.join(folder, 'objects'), path.join(target, 'objects'), { recursive: true });
  const refs = git(source, ['for-each-ref', '--format=create %(refname) %(objectname)', 'refs/heads', 'refs/tags']);
  git(target, ['update-ref', '--stdin'], refs);
  git(target, ['pack-refs', '--all']);
  const head = git(source, ['symbolic-ref', 'HEAD']).trim();
  const branches = git(target, ['for-each-ref', '--format=%(refname)', 'refs/heads']).split('\n');
  git(target, ['symbolic-ref', 'HEAD', branches.includes(head) ? head : branches[0]!]);
}

async function generate(target: string, commits: number): Promise<void> {
  const importer = spawn('git', ['-C', target, 'fast-import', '--quiet'], { stdio: ['pipe', 'inherit', 'inherit'] });
  let state = 1;
  // A random line compresses like source code does: a little.
  const line = () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return `const value${state % 9973} = '${((state * 2654435761) % 2 ** 32).toString(36)}${state.toString(36)}';\n`;
  };
  for (let commit = 0; commit < commits; commit++) {
    const text = Array.from({ length: 200 }, line).join('');
    const message = `Change ${commit}\n`;
    const chunk =
      `commit refs/heads/main\ncommitter Alice <alice@example.org> ${1_700_000_000 + commit * 60} +0000\n` +
      `data ${message.length}\n${message}M 100644 inline src/part${commit % 40}/file${commit % 400}.ts\ndata ${text.length}\n${text}\n`;
    if (!importer.stdin.write(chunk)) await once(importer.stdin, 'drain');
  }
  importer.stdin.end();
  await once(importer, 'close');
}

export function copyRepository(source: string, target: string): void {
  rmSync(target, { recursive: true, force: true });
  cpSync(source, target, { recursive: true });
}
