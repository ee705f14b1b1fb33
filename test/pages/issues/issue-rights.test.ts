// The forms on the page of an issue are those that its routes accept: by role, in every state of the issue and its
// repository. Each form is looked for on the page and then sent.
import t from 'tap';
import type { Visitor } from '../../fixtures/web-fixture.ts';
import { extractMain, signedIn } from '../../fixtures/web-fixture.ts';
import { issueWeb, viewerOf } from './issues-fixture.ts';

t.setTimeout(240_000);

type Role = 'anonymous' | 'reader' | 'author' | 'collaborator' | 'member' | 'owner' | 'blocked';
type State = 'open' | 'locked' | 'archived' | 'members only' | 'nobody';

interface TestForm {
  /** How the page offers it. */
  mark: RegExp;
  /** Below the address of the issue. */
  action: string;
  fields: Record<string, string>;
}

// Position 1 is a comment of the owner, 2 one of the author of the issue.
const forms: Record<string, TestForm> = {
  comment: { mark: /name="action" value="comment"/, action: 'comments', fields: { action: 'comment', body: 'x' } },
  draft: { mark: /name="action" value="draft"/, action: 'comments', fields: { action: 'draft', body: 'x' } },
  close: { mark: /name="action" value="close"/, action: 'comments', fields: { action: 'close' } },
  title: { mark: /\?edit=title"/, action: 'title', fields: { title: 'New title' } },
  'edit the text': { mark: /\?edit=0#/, action: 'edit', fields: { position: '0', revision: '1', body: 'new' } },
  "edit the owner's comment": {
    mark: /\?edit=1#/,
    action: 'edit',
    fields: { position: '1', revision: '1', body: 'new' },
  },
  "edit the author's comment": {
    mark: /\?edit=2#/,
    action: 'edit',
    fields: { position: '2', revision: '1', body: 'new' },
  },
  'tick a box': { mark: /id="tasks-0"/, action: 'tasks', fields: { position: '0', revision: '1', line: '2' } },
  react: { mark: /name="kind" value="heart"/, action: 'react', fields: { position: '1', kind: 'heart' } },
  // Who is subscribed unsubscribes: the page says which of the two it offers.
  subscribe: { mark: /\/subscribe"/, action: 'subscribe', fields: { on: 'yes' } },
  "delete the owner's comment": {
    mark: /id="e1"(?:(?!id="e2")[^])*\/delete"/,
    action: 'delete',
    fields: { position: '1' },
  },
  "delete the author's comment": {
    mark: /id="e2"(?:(?!<\/ol>)[^])*\/delete"/,
    action: 'delete',
    fields: { position: '2' },
  },
  hide: { mark: /\/hide"/, action: 'hide', fields: { position: '1', reason: 'spam' } },
  labels: { mark: /\/labels"/, action: 'labels', fields: { before: '', labels: 'bug' } },
  assignees: { mark: /\/assignees"/, action: 'assignees', fields: { add: 'owner' } },
  milestone: { mark: /\/milestone"/, action: 'milestone', fields: { milestone: 'Autumn' } },
  links: { mark: /\/links"/, action: 'links', fields: { kind: 'needs', to: '#1' } },
  lock: { mark: /\/lock"/, action: 'lock', fields: { on: 'yes' } },
  pin: { mark: /issues\/\d+\/pin"/, action: 'pin', fields: { on: 'yes' } },
  move: { mark: /\/move"/, action: 'move', fields: { repository: 'owner/shed' } },
  'delete the issue': { mark: /\/delete"><p[^>]*>The issue goes to the trash/, action: 'delete', fields: {} },
};

const talk = ['comment', 'draft', 'react', 'subscribe'];
const own = [
  'close',
  'title',
  'edit the text',
  'tick a box',
  "edit the author's comment",
  "delete the author's comment",
];
const triage = ['hide', 'labels', 'assignees', 'milestone', 'links', 'lock', 'pin'];
const member = ['close', 'title', 'edit the text', 'tick a box', ...triage];
const everything = Object.keys(forms);
const silent = everything.filter((name) => !talk.includes(name));

/** What each role is offered; what is not listed is nothing. The author and the owner are subscribed. */
const expected: Record<State, Partial<Record<Role, string[]>>> = {
  open: {
    reader: talk,
    author: [...talk, ...own],
    collaborator: talk,
    member: [...talk, ...member],
    owner: everything,
  },
  locked: { author: ['subscribe'], member: [...talk, ...member], owner: everything },
  archived: { author: ['subscribe'], owner: ['subscribe'] },
  'members only': {
    author: [...own, 'subscribe'],
    collaborator: talk,
    member: [...talk, ...member],
    owner: everything,
  },
  // Nobody opens or comments, but what is there can be put in order.
  nobody: { author: [...own, 'subscribe'], member, owner: [...silent, 'subscribe'] },
};

t.test('each role is offered exactly what its routes take', async (t) => {
  const { web, issues, repositories, anonymous } = await issueWeb(t);
  const people = new Map<Role, Visitor & { id: string }>();
  for (const role of ['reader', 'author', 'collaborator', 'member', 'owner', 'blocked'] as const)
    people.set(role, await signedIn(web, role));
  const viewer = (role: Role) => viewerOf(people.get(role)!.id, role);
  await repositories.create(viewer('owner'), { name: 'shed', visibility: 'PUBLIC' });
  await issues.block(viewer('owner'), { owner: 'owner', username: 'blocked' });

  for (const [state, allowed] of Object.entries(expected) as [State, (typeof expected)[State]][]) {
    const place = { owner: 'owner', name: state.replace(' ', '-') };
    await repositories.create(viewer('owner'), { name: place.name, visibility: 'PUBLIC' });
    for (const [username, role] of [
      ['collaborator', 'read'],
      ['member', 'write'],
    ] as const)
      await repositories.collaborators.add(viewer('owner'), place.owner, place.name, { username, role });
    await issues.addLabel(viewer('owner'), { repository: place }, { name: 'bug', colour: 'd73a4a' });
    await issues.addMilestone(viewer('owner'), place, { title: 'Autumn' });
    await issues.open(viewer('owner'), place, { title: 'The first' });
    const open = async (title: string): Promise<string> => {
      web.clock.advance(61_000);
      const { number } = await issues.open(viewer('author'), place, { title, body: 'old\n\n- [ ] box' });
      await issues.comment(viewer('owner'), { ...place, number }, { body: 'old' });
      await issues.comment(viewer('author'), { ...place, number }, { body: 'old' });
      if (state === 'locked') await issues.triage(viewer('owner'), { ...place, number }, { isLocked: true });
      return `/repos/owner/${place.name}/issues/${number}`;
    };
    // What is refused leaves an issue as it was, so one serves for all of it.
    const common = await open('For all');
    const own = new Map<string, string>();
    for (const [role, names] of Object.entries(allowed))
      for (const name of names) own.set(`${role} ${name}`, await open(`${role} ${name}`));
    if (state === 'archived') await repositories.setArchived(viewer('owner'), place.owner, place.name, true);
    if (state === 'members only') await issues.changeSettings(viewer('owner'), place, { issuesFrom: 'members' });
    if (state === 'nobody') await issues.changeSettings(viewer('owner'), place, { issuesFrom: 'nobody' });

    for (const role of ['anonymous', ...people.keys()] as Role[]) {
      const browser = people.get(role) ?? anonymous;
      const shown = await browser.get(common);
      t.equal(shown.status, 200, `${state}: ${role}`);
      const [, on = 'yes'] = /\/subscribe"><input type="hidden" name="on" value="(\w+)"/.exec(shown.body) ?? [];
      for (const [name, { mark, action, fields }] of Object.entries(forms)) {
        web.clock.advance(61_000);
        const isExpected = allowed[role]?.includes(name) ?? false;
        const isShown = mark.test(extractMain(shown));
        const form = name === 'subscribe' ? { on } : fields;
        const { status, headers } = await browser.post(`${own.get(`${role} ${name}`) ?? common}/${action}`, form);
        const isTaken = status === 303 && !headers.location!.startsWith('/login');
        if (isShown !== isExpected || isTaken !== isExpected)
          t.fail(`${state}: ${role}: ${name}: expected ${isExpected}, shown ${isShown}, answered ${status}`);
      }
    }
  }
});
