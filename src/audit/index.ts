import { auditSchema } from './audit-schema.ts';

export { createAudit } from './audit.ts';
export type { Audit, AuditEntry, AuditFilter } from './audit.ts';
export { entryAfter } from './hash-chain.ts';

export const auditEntities = [auditSchema];
