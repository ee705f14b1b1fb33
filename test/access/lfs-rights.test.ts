// Who may do what with files of Git LFS, as a table.
import t from 'tap';
import {
  anonymous,
  isContributedUpload,
  localAdministrator,
  personViewer,
  refusalOnLfs,
} from '../../src/access/index.ts';
import type { LfsAct, LfsRefusal, LfsRepositoryFacts, PersonViewer, Viewer } from '../../src/access/index.ts';

const alice = personViewer('alice', 'admin');
const open: LfsRepositoryFacts = {
  id: 'repository',
  visibility: 'PUBLIC',
  ownerUserId: 'bob',
  ownerOrganisationId: null,
  organisationRole: null,
  collaboratorRole: null,
  teamRole: null,
  deleted: false,
  archived: false,
  mayPropose: false,
};
const hidden: LfsRepositoryFacts = { ...open, visibility: 'PRIVATE' };
const own: LfsRepositoryFacts = { ...hidden, ownerUserId: 'alice' };
const role = (collaboratorRole: 'read' | 'write' | 'admin') => ({ ...hidden, collaboratorRole });
const task = (scope: 'read' | 'write', repositoryId = 'repository'): Viewer => ({
  kind: 'task',
  taskId: 1,
  repositoryId,
  scope,
});
const token = (scope: PersonViewer['scope'], repositoryIds: readonly string[] | null = null): Viewer => ({
  ...alice,
  via: 'token',
  scope,
  repositoryIds,
});

const acts: readonly LfsAct[] = ['download', 'upload', 'lock', 'unlock_others', 'manage'];
type Verdicts = readonly [
  download: LfsRefusal | null,
  upload: LfsRefusal | null,
  lock: LfsRefusal | null,
  unlockOthers: LfsRefusal | null,
  manage: LfsRefusal | null,
];
const nothing: Verdicts = ['hidden', 'hidden', 'hidden', 'hidden', 'hidden'];
const reads: Verdicts = [null, 'level', 'level', 'level', 'level'];
const writes: Verdicts = [null, null, null, 'level', 'level'];
const all: Verdicts = [null, null, null, null, null];

const table: [string, Viewer, LfsRepositoryFacts, Verdicts][] = [
  ['anonymous, public', anonymous, open, [null, 'sign_in', 'sign_in', 'sign_in', 'sign_in']],
  ['anonymous, private', anonymous, hidden, nothing],
  ['signed in, public', alice, open, reads],
  ['may open pull requests', alice, { ...open, mayPropose: true }, [null, null, 'level', 'level', 'level']],
  ['signed in, private', alice, hidden, nothing],
  ['an administrator of the instance', { ...alice, isAdministrator: true }, hidden, nothing],
  ['in the trash', alice, { ...own, deleted: true }, nothing],
  ['collaborator read', alice, role('read'), reads],
  ['collaborator write', alice, role('write'), writes],
  ['collaborator admin', alice, role('admin'), all],
  ['owner', alice, own, all],
  ['archived', alice, { ...own, archived: true }, [null, 'archived', 'archived', 'archived', null]],
  ['token for reading', token('read'), own, reads],
  ['token for writing: the role counts for locks of others', token('write'), own, [null, null, null, null, 'level']],
  ['token for writing, role write', token('write'), role('write'), writes],
  ['token for other repositories', token('admin', ['other']), own, nothing],
  ['token for other repositories, public', token('admin', ['other']), { ...own, visibility: 'PUBLIC' }, reads],
  ['task with write', task('write'), hidden, [null, null, 'level', 'level', 'level']],
  ['task with read', task('read'), hidden, reads],
  ['task of another repository', task('write', 'other'), hidden, nothing],
  ['command line', localAdministrator, hidden, all],
];

for (const [who, viewer, facts, verdicts] of table)
  t.strictSame(
    acts.map((act) => refusalOnLfs(viewer, facts, act)),
    verdicts,
    who,
  );

t.test('uploads of people who may not write here count as contributions', async (t) => {
  t.equal(isContributedUpload(alice, { ...open, mayPropose: true } as LfsRepositoryFacts), true);
  for (const facts of [own, role('write')]) t.equal(isContributedUpload(alice, facts), false);
  t.equal(isContributedUpload(token('read'), own), true);
});
