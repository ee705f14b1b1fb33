import path from 'node:path';
import type { Config } from '../config/index.ts';
import type { CiSettings } from './deps.ts';

/** The settings of CI. @param keyFile instance key that decrypts stored secrets */
export function ciSettings({ dataDir, baseUrl, ci, storage }: Config, keyFile: string): CiSettings {
  return {
    folder: path.join(dataDir, 'ci'),
    keyFile,
    baseUrl,
    actionsUrl: ci.actionsUrl,
    isEnabled: ci.enabled,
    tokenPermissions: ci.tokenPermissions as CiSettings['tokenPermissions'],
    maxTaskMs: ci.maxJobTimeMs,
    maxWaitMs: ci.maxWaitMs,
    maxUnroutableMs: ci.maxUnroutableMs,
    retriesLostJobs: ci.retryLostJobs,
    maxLogBytes: ci.maxLogSizeBytes,
    runTtlMs: ci.runKeepMs,
    logTtlMs: ci.logKeepMs,
    artifactTtlMs: ci.artifactKeepMs,
    maxArtifactBytes: ci.maxArtifactSizeBytes,
    maxRunArtifactBytes: ci.maxRunArtifactSizeBytes,
    lowDiskFloorBytes: storage.lowDiskFloorBytes,
  };
}
