// The column of last commits of a folder's page: in three cache states, beside git computing the same.
import { execFileSync } from 'node:child_process';
import type { HearthServer } from './hearth-server.ts';
import { median, formatRow } from './harness.ts';

interface Asked {
  hearth: HearthServer;
  branch: string;
  folders: readonly string[];
  rounds: number;
}

/** Limit of entries queried one by one: each costs a process and a walk. */
const maxSingle = 40;

export async function measureLastCommits({ hearth, branch, folders, rounds }: Asked): Promise<string[]> {
  const git = (...args: string[]): string =>
    execFileSync('git', ['-C', hearth.repository, ...args], { maxBuffer: 1e9 })
      .toString()
      .trim();
  const pageOf = (ref: string, folder: string): string =>
    `${hearth.url}/repos/alice/bench/tree/${ref}${folder === '' ? '' : `/${folder}`}`;
  const view = async (url: string): Promise<{ ms: number; html: string }> => {
    const at = performance.now();
    const html = await fetch(url).then((response) => response.text());
    return { ms: performance.now() - at, html };
  };
  const isWhole = (html: string): boolean => !html.includes('being looked up');

  /** Commits for which no page was requested: as far apart as possible, so that none fills the cache for the next. */
  const count = Number(git('rev-list', '--first-parent', '--count', branch));
  const far = Array.from({ length: rounds }, (_, round) =>
    git('rev-list', '--first-parent', '--max-count=1', `--skip=${Math.min(count - 1, 1 + round)}`, branch),
  );

  async function measure(folder: string): Promise<string> {
    const where = folder === '' ? [] : ['--', folder];
    const names = git('ls-tree', '--name-only', branch, ...(folder === '' ? [] : [`${folder}/`])).split('\n');
    // Older ones first: what is cached for a newer commit is of no use to an older one.
    const cold: { first: number; whole: number; log: number }[] = [];
    for (const oid of far) {
      const first = await view(pageOf(oid, folder));
      const at = performance.now() - first.ms;
      for (let html = first.html; !isWhole(html); html = (await view(pageOf(oid, folder))).html)
        await new Promise((resolve) => setTimeout(resolve, 20));
      const whole = performance.now() - at;
      const startedAt = performance.now();
      git('log', '--format=%H', '--raw', '-c', '--no-abbrev', '--no-renames', oid, ...where);
      cold.push({ first: first.ms, whole, log: performance.now() - startedAt });
    }
    let whole = await view(pageOf(branch, folder));
    while (!isWhole(whole.html)) whole = await view(pageOf(branch, folder));
    const warm: number[] = [];
    for (let round = 0; round < 20; round += 1) warm.push((await view(pageOf(branch, folder))).ms);
    const pushed: number[] = [];
    for (let round = 0; round < Math.max(5, rounds); round += 1) {
      const tip = git('rev-parse', branch);
      const next = git(
        '-c',
        'user.name=alice',
        '-c',
        'user.email=alice@example.org',
        'commit-tree',
        `${tip}^{tree}`,
        '-p',
        tip,
        '-m',
        `Empty ${round}`,
      );
      git('update-ref', `refs/heads/${branch}`, next);
      await new Promise((resolve) => setTimeout(resolve, 50));
      // Until all rows are there: on a busy machine the first response may lack some.
      const at = performance.now();
      while (!isWhole((await view(pageOf(branch, folder))).html));
      pushed.push(performance.now() - at);
    }
    const single = names.slice(0, maxSingle);
    const startedAt = performance.now();
    const expected = single.map((name) => git('log', '-1', '--format=%H', branch, '--', name));
    const each = ((performance.now() - startedAt) / single.length) * names.length;
    const { html } = await view(pageOf(branch, folder));
    const shown = new Map(
      [...html.matchAll(/<bdi>([^<]*)<\/bdi><\/a><\/th><td class="last"><a href="[^"]*\/commit\/([0-9a-f]+)"/g)].map(
        ([, name, oid]) => [name!, oid!],
      ),
    );
    const wrong = single.filter((name, at) => shown.get(name.slice(name.lastIndexOf('/') + 1)) !== expected[at]).length;
    const pick = (of: (one: (typeof cold)[number]) => number): number => median(cold.map(of));
    return formatRow([
      folder || '(root)',
      String(names.length),
      median(warm).toFixed(1),
      median(pushed).toFixed(1),
      pick(({ first }) => first).toFixed(0),
      pick((one) => one.whole).toFixed(0),
      pick(({ log }) => log).toFixed(0),
      `${median(cold.map((one) => one.whole / one.log)).toFixed(2)}×`,
      each.toFixed(0),
      `${wrong} of ${single.length}`,
    ]);
  }

  const rows: string[] = [];
  for (const folder of folders) rows.push(await measure(folder));
  return [
    'Last commit of each entry. Cold: a commit that nobody has asked for and whose history holds no answer; the first answer comes without what is not known yet.\n',
    formatRow([
      'Folder',
      'Entries',
      'Warm ms',
      'After a push ms',
      'Cold, first answer ms',
      'Cold, all rows ms',
      'git log in one pass ms',
      'Ratio',
      'git log -1 each ms',
      'Rows that differ',
    ]),
    formatRow(['---', ...Array<string>(9).fill('---:')]),
    ...rows,
  ];
}
