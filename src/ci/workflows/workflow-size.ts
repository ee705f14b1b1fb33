/** A workflow file has at most this many bytes: ten times the longest that people write. */
export const maxWorkflowBytes = 128 * 1024;
