import type { PersonViewer, Viewer } from '../../access/index.ts';
import type { PushRow } from '../schema/push-schema.ts';

/** Channel through which a user moves a ref without git. */
export type PushChannel = Extract<PushRow['via'], 'web' | 'api' | 'ssh' | 'cli'>;

const ways: Readonly<Record<PersonViewer['via'], PushChannel>> = {
  session: 'web',
  token: 'api',
  key: 'ssh',
  local: 'cli',
};

/** Channel recorded for a commit, branch or tag that a viewer creates without git; the API for a task. */
export const pushChannelOf = (viewer: Viewer): PushChannel => (viewer.kind === 'person' ? ways[viewer.via] : 'api');
