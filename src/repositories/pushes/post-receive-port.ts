import type { Repository } from '../schema/repository-schema.ts';

/**
 * The port through which other modules say something of what a push has brought, to the person who pushes. Called once
 * the refs have moved, while the client waits for its report.
 */
export type PostReceiveOutput = (
  arrived: { repository: Repository; path: string },
  updates: readonly { ref: string; oldId: string; newId: string }[],
) => Promise<readonly string[]>;
