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

/** Hearth's namespace: a constant name at which nothing is served. */
const hearthTerms = { hearth: 'https://hearth.example/ns#', forced: 'hearth:forced' };

const approval = { manuallyApprovesFollowers: 'as:manuallyApprovesFollowers' };

export const repositoryContext = [activityStreams, security, forgeFed, { ...forgeTerms, ...approval }];
export const pushContext = [activityStreams, forgeFed, { ...forgeTerms, ...hearthTerms }];
export const personContext = [
  activityStreams,
  security,
  { hearth: hearthTerms.hearth, repositories: { '@id': 'hearth:repositories', '@type': '@id' }, ...approval },
];
export const instanceContext = [activityStreams, security];
