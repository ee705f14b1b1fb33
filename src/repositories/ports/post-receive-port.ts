import type { Repository } from '../schema/repository-schema.ts';

/**
 * Port through which other modules send messages about a finished push to the user who pushes. Called once the refs
 * have moved, while the client waits for its report.
 */
export type PostReceiveOutput = (
  arrived: { repository: Repository; path: string },
  updates: readonly { ref: string; oldId: string; newId: string }[],
) => Promise<readonly string[]>;
