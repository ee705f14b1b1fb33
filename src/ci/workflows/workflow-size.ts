/** Size limit of a workflow file in bytes: ten times the longest that people write. */
export const maxWorkflowBytes = 128 * 1024;

export const tooLargeFile = 'A workflow file has at most 128 KiB.';
