import { readCounts } from '../../db/index.ts';
import { embedded } from '../../embedded/index.ts';
import type { FederationDeps } from '../deps.ts';
import type { Document } from './actor-documents.ts';
import { instancePath } from './actor-paths.ts';

/** Links to the NodeInfo document and to the instance actor. */
export function nodeInfoLinks({ settings: { origin } }: FederationDeps): Document {
  return {
    links: [
      { rel: 'http://nodeinfo.diaspora.software/ns/schema/2.1', href: `${origin}/nodeinfo/2.1` },
      { rel: 'https://www.w3.org/ns/activitystreams#Application', href: origin + instancePath },
    ],
  };
}

/** NodeInfo 2.1, with public information only. */
export async function nodeInfo({ db }: FederationDeps): Promise<Document> {
  const { profiles } = await readCounts(db.read);
  return {
    version: '2.1',
    software: { name: 'hearth', version: embedded.version },
    protocols: ['activitypub'],
    services: { inbound: [], outbound: [] },
    openRegistrations: false,
    usage: {
      users: { total: profiles },
    },
    metadata: {},
  };
}
