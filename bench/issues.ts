// A tracker with 100,000 issues and 500,000 entries: lists with the usual filters and the page of an issue with 200
// entries, asked one after the other on the running server; times are those of the whole response.
// usage: bench/issues [--issues N] [--entries N] [--rounds N] [--executable PATH] [--url FORGE/OWNER/NAME/issues]
// With --url the same lists of another forge are asked; its words for a filter are those of Gitea and Forgejo.
import path from 'node:path';
import { openModules } from '../src/app/index.ts';
import { anonymous } from '../src/access/index.ts';
import { loadConfig } from '../src/config/index.ts';
import { parseIssueQuery } from '../src/issues/index.ts';
import { silentLogger } from '../src/kernel/index.ts';
import { startHearthServer } from './hearth-server.ts';
import { readNumberOption, formatRow, readTextOption } from './harness.ts';
import { fillTracker } from './sample-issues.ts';

const issues = readNumberOption('issues', 100_000);
const entries = readNumberOption('entries', 500_000);
const rounds = readNumberOption('rounds', 40);
const externalUrl = readTextOption('url');

/** Our filter words, and the query of another forge for the same. */
const lists: Record<string, [ours: string, theirs: string]> = {
  'open, newest first': ['is:open', 'state=open'],
  'closed, newest first': ['is:closed', 'state=closed'],
  'open, by last change': ['is:open sort:updated', 'state=open&sort=recentupdate'],
  'closed, by comments': ['is:closed sort:comments', 'state=closed&sort=mostcomment'],
  'open with a label': ['is:open label:area/token', 'state=open&labels=1'],
  'open with two labels': ['is:open label:area/token label:area/branch', 'state=open&labels=1,2'],
  'open without a label': ['is:open no:label', 'state=open&labels=0'],
  'open, without an assignee': ['is:open no:assignee', 'state=open&assignee=-1'],
  'by an author': ['is:open author:person7', 'state=open&poster=person7'],
  'assigned to a person': ['is:open assignee:person7', 'state=open&assignee=person7'],
  'of a milestone': ['is:open milestone:1.3', 'state=open&milestone=3'],
  'with a word in the title': ['is:open runner', 'state=open&q=runner'],
  'with a word that is nowhere': ['is:open xylophone', 'state=open&q=xylophone'],
  'an author who wrote nothing': ['is:open author:alice', 'state=open&poster=alice'],
};

await measure();

async function measure(): Promise<void> {
  const hearth = await startHearthServer();
  process.once('exit', () => hearth.kill());
  const { config } = loadConfig({
    env: { SERVICE_DATA_DIR: path.join(hearth.folder, 'data') },
    cwd: hearth.folder,
    readFile: () => '',
  });
  const modules = await openModules(config, { logger: silentLogger });
  const at = { owner: 'alice', name: 'bench' };
  const { repository } = await modules.repositories.find(anonymous, at.owner, at.name);
  const startedAt = performance.now();
  const { longIssue, longLog } = await fillTracker(modules.db, repository.id, { issues, entries });
  const [counted] = (await modules.db.read.query('SELECT count(*) AS n FROM issue_entries')) as { n: number }[];
  console.log(
    `${issues.toLocaleString('en')} issues with ${Number(counted!.n).toLocaleString('en')} entries, written in ${((performance.now() - startedAt) / 1000).toFixed(0)} s.\n`,
  );

  const base = `${hearth.url}/repos/alice/bench/issues`;
  const hasPage = (await fetch(`${base}?q=is:open`)).status === 200;
  console.log(
    formatRow(['List, 50 a page', 'Module, ms p50 / p95', 'Page, ms p50 / p95', 'Other forge, ms p50 / p95']),
  );
  console.log(formatRow(['---', '---:', '---:', '---:']));
  for (const [name, [ours, theirs]] of Object.entries(lists)) {
    const { filter } = parseIssueQuery(ours);
    const module = await timed(async () => void (await modules.issues.list(anonymous, at, filter, { limit: 50 })));
    const page = hasPage ? await timed(() => read(`${base}?${new URLSearchParams({ q: ours })}`)) : null;
    const other = externalUrl === null ? null : await timed(() => read(`${externalUrl}?${theirs}`));
    console.log(formatRow([name, shown(module), shown(page), shown(other)]));
  }

  const one = `${base}/${longIssue}`;
  const first = await once(() => read(one));
  const again = await timed(() => read(one));
  console.log(`\n${formatRow(['Page of an issue', 'ms'])}\n${formatRow(['---', '---:'])}`);
  console.log(formatRow([`${longLog} entries, first view`, first.toFixed(0)]));
  console.log(formatRow([`${longLog} entries, rendered before, p50 / p95`, shown(again)]));
  console.log(formatRow([`${longLog} entries as JSON, p50 / p95`, shown(await timed(() => read(`${one}.json`)))]));
  await modules.close();
  await hearth.stop();
}

/** The whole response; another status than 200 is a mistake of this benchmark. */
async function read(url: string): Promise<void> {
  const response = await fetch(url);
  await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`${url} answered ${response.status}`);
}

async function once(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

async function timed(work: () => Promise<void>): Promise<number[]> {
  await work();
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) times.push(await once(work));
  return times.sort((a, b) => a - b);
}

function shown(times: readonly number[] | null): string {
  if (times === null) return '';
  const at = (share: number): string => times[Math.min(times.length - 1, Math.floor(times.length * share))]!.toFixed(1);
  return `${at(0.5)} / ${at(0.95)}`;
}
