/**
 * The JSON-LD contexts of documents. Hearth never resolves them, but peers do. Besides the two contexts that every
 * reader has built in, each term is defined inline: while the host of another context does not respond, such a peer
 * could read neither an actor nor its key.
 */

export const activityStreams = 'https://www.w3.org/ns/activitystreams';
const security = 'https://w3id.org/security/v1';
export const publicAudience = `${activityStreams}#Public`;

const date = 'http://www.w3.org/2001/XMLSchema#dateTime';

/** The ForgeFed terms in use; its published context lacks some of them. */
const forgeTerms = { forge: 'https://forgefed.org/ns#' };
const repositoryTerms = {
  ...forgeTerms,
  Repository: 'forge:Repository',
  cloneUri: { '@id': 'forge:cloneUri', '@type': '@id' },
  pushUri: { '@id': 'forge:pushUri', '@type': '@id' },
};
const pushTerms = {
  ...forgeTerms,
  Push: 'forge:Push',
  Branch: 'forge:Branch',
  Commit: 'forge:Commit',
  ref: 'forge:ref',
  hash: 'forge:hash',
  hashBefore: 'forge:hashBefore',
  hashAfter: 'forge:hashAfter',
  committed: { '@id': 'forge:committed', '@type': date },
  created: { '@id': 'http://purl.org/dc/terms/created', '@type': date },
};

/** Hearth's namespace: a UUID URN, which needs no domain owner (RFC 9562). */
const hearthTerms = { hearth: 'urn:uuid:3b0d5f0c-52c8-4c3a-9f0e-6a7b1d2e84c1#', forced: 'hearth:forced' };

const actorTerms = {
  manuallyApprovesFollowers: 'as:manuallyApprovesFollowers',
  toot: 'http://joinmastodon.org/ns#',
  discoverable: 'toot:discoverable',
};

/** Fields that microblogs show as a table on a profile. */
const profileTerms = { schema: 'http://schema.org#', PropertyValue: 'schema:PropertyValue', value: 'schema:value' };

const eventTerms = {
  hearth: hearthTerms.hearth,
  event: 'hearth:event',
  about: 'hearth:about',
  author: 'hearth:author',
  number: 'hearth:number',
  tagName: 'hearth:tagName',
  Release: 'hearth:Release',
  Issue: 'hearth:Issue',
  PullRequest: 'hearth:PullRequest',
};

export const repositoryContext = [activityStreams, security, { ...repositoryTerms, ...actorTerms, ...profileTerms }];
export const eventContext = [activityStreams, eventTerms];
export const pushContext = [activityStreams, { ...pushTerms, ...hearthTerms }];
export const personContext = [
  activityStreams,
  security,
  {
    hearth: hearthTerms.hearth,
    repositories: { '@id': 'hearth:repositories', '@type': '@id' },
    ...actorTerms,
    ...profileTerms,
  },
];
export const instanceContext = [activityStreams, security];
