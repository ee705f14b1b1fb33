import { z } from 'zod';
import { giteaRepository } from './repository-schema.ts';
import { giteaUser } from './user-schema.ts';

/** Gitea's names of the formats: it calls an image a container. */
export const packageTypes = ['cargo', 'container', 'generic', 'maven', 'npm', 'pypi'] as const;

/** A version of a package in Gitea's form. */
export const giteaPackage = z
  .strictObject({
    id: z.int(),
    owner: giteaUser,
    repository: giteaRepository.nullable().describe('Linked repository, if the caller can read it'),
    creator: giteaUser,
    type: z.enum(packageTypes),
    name: z.string(),
    html_url: z.string(),
    version: z.string().describe('For an image, the tag or otherwise the digest'),
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'Package' });

export const giteaPackageFile = z
  .strictObject({
    id: z.int(),
    size: z.int().describe('Size in bytes'),
    name: z.string(),
    md5: z.string(),
    sha1: z.string(),
    sha256: z.string(),
    sha512: z.string(),
  })
  .meta({ id: 'PackageFile' });
