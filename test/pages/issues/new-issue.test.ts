// The page of a new issue: templates of the repository, the chooser, forms with their faults, and drafts.
import t from 'tap';
import { measureCpuTime, mainThreadMs } from '../../fixtures/thread-cpu.ts';
import { issueWeb, roofUrl, words } from './issues-fixture.ts';

t.setTimeout(120_000);

const fresh = `${roofUrl}/issues/new`;

const bugForm = `
name: Bug report
description: Something does not work
labels: [bug, no-such-label]
assignees: [carol, nobody-here]
body:
  - type: markdown
    attributes: { value: "Please be **exact**." }
  - type: input
    id: version
    attributes: { label: Version }
    validations: { required: true }
  - type: textarea
    id: what
    attributes: { label: What happened }
    validations: { required: true }
  - type: checkboxes
    id: terms
    attributes: { label: Terms, options: [{ label: I have searched, required: true }] }
`;

t.test('without templates there is one form; what is typed comes back when it is refused', async (t) => {
  const { bob, carol, anonymous, issues, viewers, at } = await issueWeb(t);
  t.equal((await anonymous.get(fresh)).headers.location, `/login?next=${encodeURIComponent(fresh)}`);
  const page = await bob.get(`${fresh}?title=Leak&body=Water`);
  t.match(page.body, /name="title"[^>]*value="Leak"[^]*>\s*Water<\/textarea>/);
  t.notMatch(page.body, /name="labels"|name="assignees"|name="milestone"/, 'these belong to members');
  const refused = await bob.post(fresh, { title: '  ', body: 'Water everywhere' });
  t.match([refused.status, refused.body], [422, /Enter a title[^]*>\s*Water everywhere<\/textarea>/]);
  const preview = await bob.post(fresh, { title: 'Leak', body: '**Water**', action: 'preview' });
  t.match([preview.status, preview.body], [200, /aria-label="Preview"[^]*<strong>Water<\/strong>/]);
  t.equal((await bob.post(fresh, { title: 'Leak', body: 'Water' })).headers.location, `${roofUrl}/issues/1`);
  t.match(await issues.find(viewers.bob, at(1)), { title: 'Leak', state: 'OPEN' });
  await issues.addLabel(viewers.alice, { repository: at(1) }, { name: 'bug', colour: 'd73a4a' });
  await issues.addMilestone(viewers.alice, at(1), { title: 'Autumn' });
  const form = { title: 'Gutter', body: '', labels: ['bug'], assignees: 'bob, @carol', milestone: 'Autumn' };
  t.match((await carol.get(fresh)).body, /name="labels" value="bug"[^]*name="assignees"[^]*name="milestone"/);
  t.equal((await carol.post(fresh, form)).headers.location, `${roofUrl}/issues/2`);
  const issue = await issues.find(viewers.bob, at(2));
  t.match(issue, { labels: [{ name: 'bug' }], milestoneId: String });
  t.same([...issue.assignees].sort(), [bob.id, carol.id].sort());
  const unknown = await carol.post(fresh, { ...form, title: 'Tile', assignees: 'nobody-here' });
  t.match([unknown.status, unknown.body], [422, /value="nobody-here"[^]*Only people with read access/]);
  t.match(unknown.body, /value="bug" checked/);
  await bob.post(fresh, { title: 'Sly', body: '', labels: ['bug'], milestone: 'Autumn' });
  t.match(await issues.find(viewers.bob, at(3)), { labels: [], milestoneId: null }, 'fields that were not offered');
});

t.test('a chooser of several templates; bad YAML is named and hides nothing', async (t) => {
  const { bob, carol } = await issueWeb(t, {
    files: {
      '.gitea/ISSUE_TEMPLATE/bug.yml': bugForm,
      '.gitea/ISSUE_TEMPLATE/idea.md':
        '---\nname: Idea\nabout: Something new\ntitle: "Idea: "\n---\nWhat would be **nice**?',
      '.gitea/ISSUE_TEMPLATE/broken.yaml': 'name: [',
      '.gitea/ISSUE_TEMPLATE/config.yml':
        'blank_issues_enabled: false\ncontact_links: [{name: Forum, url: "https://forum.example.org", about: Ask}]',
      '.github/ISSUE_TEMPLATE/other.md': 'Not used: another folder comes first.',
    },
  });
  const chooser = await bob.get(fresh);
  t.match(words(chooser), /broken\.yaml Line 1: .* Bug report Something does not work Idea Something new Forum Ask/);
  t.notMatch(chooser.body, /Not used|Blank issue/);
  t.match((await carol.get(fresh)).body, /Blank issue/, 'members may always');
  t.match((await bob.get(`${fresh}?template=blank`)).body, /Bug report/, 'back to the chooser');
  const idea = await bob.get(`${fresh}?template=idea.md`);
  t.match(idea.body, /value="Idea: "[^]*>\s*What would be \*\*nice\*\*\?<\/textarea>/);
  t.match(words(await bob.get(`${fresh}?template=none.md`)), 'Bug report', 'an unknown one is the chooser');
});

t.test('a YAML form is checked on the server, with each fault beside its field', async (t) => {
  const { bob, issues, viewers, at, carol } = await issueWeb(t, { files: { '.hearth/issue/bug.yml': bugForm } });
  await issues.addLabel(viewers.alice, { repository: at(0) }, { name: 'bug', colour: 'd73a4a' });
  const page = await bob.get(fresh);
  t.match(
    page.body,
    /Please be <strong>exact<\/strong>[^]*name="answer-version"[^]*name="answer-what"[^]*name="answer-terms"/,
  );
  const form = { template: 'bug.yml', title: 'Leak', 'answer-what': 'It *drips*' };
  const refused = await bob.post(fresh, form);
  t.equal(refused.status, 422);
  t.match(refused.body, /id="answer-version-error"[^]*id="answer-terms-error"/);
  t.match(refused.body, /<a href="#answer-version">Version: Please fill this in/, 'the summary leads to the first');
  t.match(refused.body, />\s*It \*drips\*<\/textarea>/);
  t.notMatch(refused.body, /id="answer-what-error"/);
  const preview = await bob.post(fresh, { ...form, action: 'preview' });
  t.match([preview.status, preview.body], [200, /aria-label="Preview"[^]*It <em>drips<\/em>/]);
  const whole = { ...form, 'answer-version': '1.2', 'answer-terms': 'I have searched' };
  t.equal((await bob.post(fresh, whole)).headers.location, `${roofUrl}/issues/1`);
  const { entries } = await issues.listEntries(viewers.bob, at(1));
  t.match(
    entries[0]!.body,
    '### Version\n\n1.2\n\n### What happened\n\nIt *drips*\n\n### Terms\n\n- [x] I have searched',
  );
  t.match(
    await issues.find(viewers.bob, at(1)),
    { labels: [{ name: 'bug' }], assignees: [carol.id] },
    'the template decides, not the author; what does not fit is passed over',
  );
});

t.test('a draft of a form comes back with all its answers, and goes when the issue is there', async (t) => {
  const { bob, alice } = await issueWeb(t, {
    files: { 'ISSUE_TEMPLATE/x.txt': 'x', '.github/issue_template.yml': bugForm },
  });
  const draft = {
    template: 'issue_template.yml',
    title: 'Half',
    'answer-version': '1',
    'answer-terms': 'I have searched',
  };
  t.match((await bob.post(fresh, { ...draft, action: 'draft' })).headers.location, /done=draft-saved/);
  const again = await bob.get(fresh);
  t.match(again.body, /This is your saved draft[^]*value="Half"[^]*value="1"[^]*value="I have searched" checked/);
  t.notMatch((await alice.get(fresh)).body, /Half/);
  await bob.post(fresh, { ...draft, 'answer-what': 'all of it' });
  t.notMatch((await bob.get(fresh)).body, /Half/);
});

t.test('a person who may not open an issue sees why; a private repository stays hidden', async (t) => {
  const { bob, carol, anonymous, issues, viewers, at, repositories } = await issueWeb(t);
  await issues.changeSettings(viewers.alice, at(0), { issuesFrom: 'members' });
  t.match([(await bob.get(fresh)).status, words(await bob.get(fresh))], [403, /Only members of this repository/]);
  const refused = await bob.post(fresh, { title: 'Leak', body: 'Water' });
  t.match([refused.status, refused.body], [403, />\s*Water<\/textarea>/]);
  t.equal((await carol.get(fresh)).status, 200);
  await issues.changeSettings(viewers.alice, at(0), { issuesFrom: 'anyone' });
  await issues.block(viewers.alice, { owner: 'alice', username: 'bob' });
  t.match(words(await bob.get(fresh)), 'The owner of this repository has blocked you from contributing.');
  await repositories.setArchived(viewers.alice, 'alice', 'roof', true);
  t.match(words(await carol.get(fresh)), 'This repository is archived');
  await repositories.changeVisibility(viewers.alice, 'alice', 'roof', 'PRIVATE');
  t.equal((await bob.get(fresh)).status, 404);
  t.equal((await anonymous.get(fresh)).status, 404);
  t.equal((await bob.post(fresh, { title: 'Leak' })).status, 404);
});

t.test('templates that are too large, too many or hostile are named, and cost little', async (t) => {
  const files: Record<string, string> = {
    '.github/ISSUE_TEMPLATE/good.md': '---\nname: Good\n---\ntext',
    '.github/ISSUE_TEMPLATE/large.md': 'x'.repeat(70_000),
    '.github/ISSUE_TEMPLATE/deep.yml': `body: ${'['.repeat(60_000)}`,
    '.github/ISSUE_TEMPLATE/aliases.yml': `a: &a [1]\n${Array.from({ length: 2_000 }, (_, at) => `k${at}: *a\n`).join('')}`,
    '.github/ISSUE_TEMPLATE/keys.yml': Array.from({ length: 6_000 }, (_, at) => `key${at}: 1\n`).join(''),
    '.github/ISSUE_TEMPLATE/bytes.yml': 'name: \u0000\ufffe',
  };
  for (let number = 0; number < 60; number += 1) files[`.github/ISSUE_TEMPLATE/t${number}.md`] = `text ${number}`;
  const { bob } = await issueWeb(t, { files });
  // What the page costs by itself: a repository of the same size, with files that are no templates.
  const usual = await measureCpuTime(() => bob.get(roofUrl));
  const { result: chooser, cpuMs } = await measureCpuTime(() => bob.get(fresh));
  t.equal(chooser.status, 200);
  t.ok(cpuMs < usual.cpuMs + mainThreadMs, `${cpuMs} ms: they are parsed in the worker pool`);
  const text = words(chooser);
  for (const name of ['large.md', 'deep.yml', 'aliases.yml', 'keys.yml', 'bytes.yml'])
    t.match(text, new RegExp(`ISSUE_TEMPLATE/${name.replace('.', '\\.')} \\S`), name);
  t.match(text, 'Good');
  t.ok(chooser.body.split('template=t').length - 1 <= 50, 'at most fifty files');
  t.equal(
    (await bob.post(fresh, { template: 'deep.yml', title: 'Leak', body: 'x' })).status,
    303,
    'as without a template',
  );
});
