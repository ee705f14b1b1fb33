import type { PersonViewer, Viewer } from '../../access/index.ts';
import type { PushRow } from '../schema/push-schema.ts';

/** How a ref came that a person moves without git. */
export type PushChannel = Extract<PushRow['via'], 'web' | 'api' | 'ssh' | 'cli'>;

const ways: Readonly<Record<PersonViewer['via'], PushChannel>> = {
  session: 'web',
  token: 'api',
  key: 'ssh',
  local: 'cli',
};

/** What the journal says of a commit, branch or tag that a viewer makes without git; the API, for a task. */
export const pushChannelOf = (viewer: Viewer): PushChannel => (viewer.kind === 'person' ? ways[viewer.via] : 'api');
