/** The JSON-LD contexts of documents. They are never resolved here; peers may do so. */

export const activityStreams = 'https://www.w3.org/ns/activitystreams';
export const security = 'https://w3id.org/security/v1';
export const publicAudience = `${activityStreams}#Public`;

const forgeFed = 'https://forgefed.org/ns';

/** Terms that the published ForgeFed context lacks. */
const forgeTerms = {
  forge: `${forgeFed}#`,
  pushUri: { '@id': 'forge:pushUri', '@type': '@id' },
  hashBefore: 'forge:hashBefore',
  hashAfter: 'forge:hashAfter',
  created: { '@id': 'http://purl.org/dc/terms/created', '@type': 'http://www.w3.org/2001/XMLSchema#dateTime' },
};

/** Hearth's namespace: a name that needs no owner, as the host of an address would (RFC 9562). */
const hearthTerms = { hearth: 'urn:uuid:3b0d5f0c-52c8-4c3a-9f0e-6a7b1d2e84c1#', forced: 'hearth:forced' };

const approval = { manuallyApprovesFollowers: 'as:manuallyApprovesFollowers' };

export const repositoryContext = [activityStreams, security, forgeFed, { ...forgeTerms, ...approval }];
export const pushContext = [activityStreams, forgeFed, { ...forgeTerms, ...hearthTerms }];
export const personContext = [
  activityStreams,
  security,
  { hearth: hearthTerms.hearth, repositories: { '@id': 'hearth:repositories', '@type': '@id' }, ...approval },
];
export const instanceContext = [activityStreams, security];
