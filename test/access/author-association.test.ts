// The word that workflows read as `author_association`, for each role and each way to have it.
import t from 'tap';
import { authorAssociation } from '../../src/access/index.ts';
import type { RepositoryFacts } from '../../src/access/index.ts';

const facts: RepositoryFacts = {
  id: 'r',
  visibility: 'PUBLIC',
  ownerUserId: 'alice',
  ownerOrganisationId: null,
  organisationRole: null,
  collaboratorRole: null,
  teamRole: null,
  deleted: false,
};
const ofGuild = { ...facts, ownerUserId: null, ownerOrganisationId: 'guild' };

t.test('only who may write has a word, by what gives the right', async (t) => {
  const table: [who: string | null, given: Partial<RepositoryFacts>, place: RepositoryFacts, word: string][] = [
    ['alice', {}, facts, 'OWNER'],
    ['bob', {}, facts, 'NONE'],
    [null, {}, facts, 'NONE'],
    [null, { collaboratorRole: 'admin' }, facts, 'NONE'],
    ['bob', { collaboratorRole: 'read' }, facts, 'NONE'],
    ['bob', { collaboratorRole: 'write' }, facts, 'COLLABORATOR'],
    ['bob', { collaboratorRole: 'admin' }, facts, 'COLLABORATOR'],
    ['bob', { organisationRole: 'GUEST' }, ofGuild, 'NONE'],
    ['bob', { organisationRole: 'MEMBER' }, ofGuild, 'MEMBER'],
    ['bob', { organisationRole: 'OWNER' }, ofGuild, 'MEMBER'],
    ['bob', { organisationRole: 'GUEST', collaboratorRole: 'read' }, ofGuild, 'NONE'],
    ['bob', { organisationRole: 'GUEST', collaboratorRole: 'write' }, ofGuild, 'COLLABORATOR'],
    ['bob', { organisationRole: 'MEMBER', collaboratorRole: 'read' }, ofGuild, 'MEMBER'],
    ['bob', { teamRole: 'read' }, ofGuild, 'NONE'],
    ['bob', { teamRole: 'write' }, ofGuild, 'COLLABORATOR'],
    ['bob', { organisationRole: 'GUEST', teamRole: 'write' }, ofGuild, 'COLLABORATOR'],
    ['bob', { organisationRole: 'MEMBER', teamRole: 'admin' }, ofGuild, 'MEMBER'],
  ];
  for (const [who, given, place, word] of table)
    t.equal(authorAssociation(who, { ...place, ...given }), word, `${who} ${JSON.stringify(given)}`);
});
