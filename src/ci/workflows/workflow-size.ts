/** Size limit of a workflow file in bytes: ten times the longest that people write. */
export const maxWorkflowBytes = 128 * 1024;
