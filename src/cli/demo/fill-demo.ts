import type { Modules } from '../../app/index.ts';
import { callerOf } from './call-demo.ts';
import type { Caller } from './call-demo.ts';
import { forecastCommits, gardenCommits } from './demo-files.ts';
import type { DemoCommit } from './demo-files.ts';
import { registerRunner } from './demo-runner.ts';
import type { DemoRunner, DemoTime } from './demo-runner.ts';

export const demoPeople = ['alice', 'bob', 'carol'] as const;
type Name = (typeof demoPeople)[number];

/** Time passes between the changes of a demo; the runner works meanwhile. */
interface Pace {
  pass(ms: number): Promise<void>;
  /** The runner waits for a run of this commit. */
  startsRun(commit: string): void;
}

const hour = 3_600_000;
const base64 = (text: string): string => Buffer.from(text).toString('base64');

/**
 * Fills an empty server with users, an organisation, repositories with history, issues, pull requests, runs, packages,
 * a wiki and releases. Everything except users is created over the protocols of clients.
 * @param url origin of the server
 * @returns the password of all users
 */
export async function fillDemo(modules: Modules, url: string, time: DemoTime): Promise<{ password: string }> {
  const password = modules.accounts.suggestPassword();
  const people = {} as Record<Name, Caller>;
  for (const name of demoPeople) {
    const displayName = `${name[0]!.toUpperCase()}${name.slice(1)}`;
    const isAdministrator = name === 'alice';
    const address = `${name}@example.org`;
    const person = await modules.accounts.addPerson({
      username: name,
      password,
      displayName,
      isAdministrator,
      address,
    });
    const wish = { name: 'demo', access: 'admin', repositoryIds: null, expiresAt: null } as const;
    people[name] = callerOf(url, (await modules.accounts.addToken(person.id, wish)).secret);
  }
  const { alice, bob, carol } = people;
  let runner: DemoRunner | null = null;
  const commits = new Set<string>();
  const pace: Pace = {
    async pass(ms) {
      await runner?.runJobs(commits);
      time.pass(ms);
    },
    startsRun: (commit) => commits.add(commit),
  };
  await makeGarden(people);
  runner = await registerRunner(alice, url, time);
  for (const each of gardenCommits) await commit(people, each, pace);
  await makeOthers(people);
  await makeIssues(people, pace);
  await makePullRequests(people, pace);
  await makeReleases(alice, pace);
  await makeWiki(people, pace);
  await runner.runJobs(commits);
  await carol.api('PUT', '/user/starred/alice/garden');
  await bob.api('PUT', '/user/starred/alice/garden');
  return { password };
}

async function makeGarden({ alice }: Record<Name, Caller>): Promise<void> {
  const description = 'Plans when to water which bed';
  await alice.api('POST', '/user/repos', {
    name: 'garden',
    description,
    private: false,
    auto_init: true,
    license: 'MIT',
  });
  for (const name of ['bob', 'carol'])
    await alice.api('PUT', `/repos/alice/garden/collaborators/${name}`, { permission: 'write' });
  await alice.api('PUT', '/repos/alice/garden/topics', { topics: ['garden', 'water', 'typescript'] });
}

async function commit(people: Record<Name, Caller>, each: DemoCommit, pace: Pace, branch = 'main'): Promise<void> {
  await pace.pass(30 * hour);
  const caller = people[each.by];
  const files = [];
  for (const [path, text] of Object.entries(each.files)) {
    const known = await caller.api('GET', `/repos/alice/garden/contents/${path}?ref=${branch}`).catch(() => null);
    const content = base64(text);
    files.push({ operation: known === null ? 'create' : 'update', path, content, ...(known && { sha: known.sha }) });
  }
  const { commit: made } = await caller.api('POST', '/repos/alice/garden/contents', {
    branch,
    message: each.message,
    files,
  });
  // The workflow is in this commit, or came before it.
  if (branch !== 'main' || '.hearth/workflows/test.yml' in each.files) pace.startsRun(made.sha as string);
}

async function makeOthers({ alice, bob, carol }: Record<Name, Caller>): Promise<void> {
  await alice.api('POST', '/orgs', { username: 'acme', full_name: 'Acme', description: 'Tools for gardens' });
  const handbook = { name: 'handbook', description: 'How we work', private: false, auto_init: true };
  await alice.api('POST', '/orgs/acme/repos', handbook);
  const files = { name: 'dotfiles', description: 'Settings of my machines', private: false, auto_init: true };
  await bob.api('POST', '/user/repos', files);
  await carol.api('POST', '/user/repos', { name: 'notes', description: 'Nobody else sees these', private: true });
}

async function makeIssues({ alice, bob, carol }: Record<Name, Caller>, pace: Pace): Promise<void> {
  const labels: Record<string, number> = {};
  for (const [name, color, description] of [
    ['bug', 'c62828', 'Something is wrong'],
    ['feature', '1565c0', 'Something new'],
    ['good first issue', '2e7d32', 'Small and well described'],
  ] as const)
    labels[name] = (
      await alice.api('POST', '/repos/alice/garden/labels', { name, color: `#${color}`, description })
    ).id;
  const milestone = (await alice.api('POST', '/repos/alice/garden/milestones', { title: 'Spring' })).id as number;
  const open = async (caller: Caller, title: string, body: string, more: object = {}): Promise<number> => {
    await pace.pass(7 * hour);
    return (await caller.api('POST', '/repos/alice/garden/issues', { title, body, ...more })).number as number;
  };
  const say = async (caller: Caller, issue: number, body: string): Promise<void> => {
    await pace.pass(hour);
    await caller.api('POST', `/repos/alice/garden/issues/${issue}/comments`, { body });
  };
  const empty = await open(
    carol,
    'A line without numbers plans NaN litres',
    'With `herbs` alone in `beds.txt`:\n\n```\nherbs NaN\n```\n\nA message with the number of the line would help.',
    {
      labels: [labels['bug'], labels['good first issue']],
      milestone,
      assignees: ['bob'],
    },
  );
  await say(bob, empty, 'I can see it, too. `readBeds` should refuse the line.');
  await say(alice, empty, 'Agreed: name the line, and go on with no plan at all. @bob, do you take it?');
  const wind = await open(
    bob,
    'Take the wind into account',
    'Beds at the fence dry out faster.\n\n- [ ] measure\n- [ ] a factor for each bed',
    {
      labels: [labels['feature']],
    },
  );
  await say(carol, wind, 'Mine are all at the fence :sunflower:');
  await open(alice, 'Print the plan as JSON', 'For the valve controller.', { labels: [labels['feature']], milestone });
  const done = await open(carol, 'Herbs get too much water', 'They were under water all week.', {
    labels: [labels['bug']],
  });
  await say(carol, done, 'Fixed with half of it.');
  await carol.api('PATCH', `/repos/alice/garden/issues/${done}`, { state: 'closed' });
}

async function makePullRequests(people: Record<Name, Caller>, pace: Pace): Promise<void> {
  const { alice, bob, carol } = people;
  const repository = '/repos/alice/garden';
  for (const branch of ['forecast', 'days-option'])
    await bob.api('POST', `${repository}/branches`, { new_branch_name: branch, old_branch_name: 'main' });
  for (const each of forecastCommits) await commit(people, each, pace, 'forecast');
  const option = {
    by: 'carol',
    message: 'Explain --days',
    files: { 'docs/days.md': '# --days\n\nThree, if left out.\n' },
  };
  await commit(people, option as DemoCommit, pace, 'days-option');
  const small = await carol.api('POST', `${repository}/pulls`, {
    title: 'Explain --days',
    head: 'days-option',
    base: 'main',
  });
  await alice.api('POST', `${repository}/pulls/${small.number}/reviews`, { event: 'APPROVED', body: 'Thank you!' });
  await pace.pass(2 * hour);
  await alice.api('POST', `${repository}/pulls/${small.number}/merge`, { Do: 'merge' });
  const body = 'Plans with the rain that is to come, when `STATION` names a weather station.\n\nFor #2.';
  const { number } = await bob.api('POST', `${repository}/pulls`, {
    title: 'Plan with the forecast',
    head: 'forecast',
    base: 'main',
    body,
  });
  await bob.api('POST', `${repository}/pulls/${number}/requested_reviewers`, { reviewers: ['alice', 'carol'] });
  await pace.pass(3 * hour);
  const comment = 'What does it do when the station is down?';
  await carol.api('POST', `${repository}/pulls/${number}/reviews`, {
    event: 'REQUEST_CHANGES',
    body: 'One question, otherwise fine.',
    comments: [{ path: 'src/forecast.ts', new_position: 5, body: comment }],
  });
  await bob.api('POST', `${repository}/issues/${number}/comments`, {
    body: 'Good point. I would plan without rain then.',
  });
}

async function makeReleases(alice: Caller, pace: Pace): Promise<void> {
  const repository = '/repos/alice/garden';
  for (const [version, notes] of [
    ['1.0.0', 'The first one: beds, thirst and rain.'],
    ['1.1.0', '- Herbs get half of the water\n- `--days` is explained'],
  ] as const) {
    await pace.pass(20 * hour);
    const wish = { tag_name: `v${version}`, target_commitish: 'main', name: `Garden ${version}`, body: notes };
    await alice.api('POST', `${repository}/releases`, wish);
    const path = `/packages/alice/generic/garden/${version}/garden-${version}.txt`;
    await alice.send('PUT', path, `garden ${version}\n`);
  }
}

async function makeWiki({ alice, carol }: Record<Name, Caller>, pace: Pace): Promise<void> {
  const write = (caller: Caller, title: string, text: string) =>
    caller.api('POST', '/repos/alice/garden/wiki/new', {
      title,
      content_base64: base64(text),
      message: `Add ${title}`,
    });
  await write(alice, 'Home', '# Garden\n\n- [[Plants]]: what needs how much\n');
  await pace.pass(hour);
  await write(
    carol,
    'Plants',
    '# Plants\n\n| Plant | Litres for each m² |\n|---|---|\n| Tomatoes | 3 |\n| Herbs | 0.5 |\n',
  );
}
