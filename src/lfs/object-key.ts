/** Key of an object in the store: `lfs/<repository id>/<sha256>`. */
export const objectKey = (repositoryId: string, oid: string): string => `${objectPrefix}${repositoryId}/${oid}`;
export const objectPrefix = 'lfs/';

const oidShape = /^[0-9a-f]{64}$/;
/** Whether a text is an object id: a SHA-256 in lower-case hex. */
export const isOid = (text: unknown): text is string => typeof text === 'string' && oidShape.test(text);
