import { activityStreams } from './contexts.ts';
import type { Json } from './json-fields.ts';

/** An Accept or Reject of a Follow, with only the four fields by which other software matches it. */
export function answerContent(follow: { id: string; actor: string; object: string }): Json {
  const { id, actor, object } = follow;
  return { '@context': activityStreams, to: [actor], object: { id, type: 'Follow', actor, object } };
}
