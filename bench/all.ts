// Runs every benchmark and writes bench/RESULTS.md.
// usage: bench/all [--install]
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';

const names = [
  'start',
  'git-http',
  'concurrent-clones',
  'page-beside-clones',
  'git-ssh',
  'large-transfer',
  'ls-remote',
  'push',
  'many-refs',
  'many-branches',
  'push-beside-health',
  'process-spawning',
  'ci',
  'pages',
  'first-views',
  'federation',
  'followers',
  'outbox',
  'search',
  'overload',
  'costly-answers',
  'large-instance',
  'home',
  'issues',
  'imports',
  'notifications',
  'forks',
  'lfs',
  'packages',
  'pulls',
  'merge-latency',
  'pull-changes',
];
const versionOf = (program: string, ...args: string[]) => {
  const lines = execFileSync('sh', ['-c', `${[program, ...args].join(' ')} 2>&1 || true`]).toString();
  return lines.trim().split('\n')[0]!;
};

const made = `Made with \`scripts/bench all\` on ${cpus().length} cores, Node ${process.version}, ${versionOf('git', 'version')}, ${versionOf('nginx', '-v')}, ${versionOf('ssh', '-V')}.`;
const head = `# Results\n\n${made} Medians, with smallest and largest in parentheses; ratios are Hearth divided by the peer: wall time per round, processor time over all rounds.\n`;

// Written after each benchmark, so that a failing one loses no results.
const sections: string[] = [];
for (const name of names) {
  process.stderr.write(`${name} …\n`);
  const file = fileURLToPath(new URL(`./${name}.ts`, import.meta.url));
  const table = execFileSync(process.execPath, [file, ...process.argv.slice(2)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  sections.push(`## ${name}\n\n${table.toString().trim()}\n`);
  writeFileSync(new URL('./RESULTS.md', import.meta.url), `${head}\n${sections.join('\n')}`);
}
