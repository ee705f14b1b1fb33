import { z } from 'zod';
import { giteaUser } from './issues-schemas.ts';

const time = z.iso.datetime();

export const releaseFile = z
  .strictObject({
    id: z.int(),
    uuid: z.uuid(),
    name: z.string(),
    size: z.int().describe('In bytes'),
    download_count: z.int(),
    created_at: time,
    browser_download_url: z.url(),
    type: z.literal('attachment'),
    digest: z.string().describe('sha256: and the SHA-256 in hex'),
  })
  .meta({ id: 'ReleaseFile' });

export const release = z
  .strictObject({
    id: z.int(),
    tag_name: z.string(),
    target_commitish: z.string().describe('Where the tag of a draft will be made'),
    name: z.string().describe('The tag, where it has no title'),
    body: z.string(),
    url: z.url(),
    html_url: z.url(),
    tarball_url: z.url(),
    zipball_url: z.url(),
    upload_url: z.url(),
    draft: z.boolean(),
    prerelease: z.boolean(),
    created_at: time,
    published_at: time.describe('Of a draft when it was made'),
    author: giteaUser,
    assets: z.array(releaseFile),
  })
  .meta({ id: 'Release' });

const optionalText = (max: number) => z.string().max(max).optional();

export const releaseEdit = z.strictObject({
  tag_name: optionalText(200).describe('Of a draft: the tag of a published release stays'),
  tag_message: optionalText(10_000).describe('Makes an annotated tag'),
  target_commitish: optionalText(200).describe('Where a tag is made that is not there; the default branch without it'),
  name: optionalText(255),
  body: optionalText(65_536),
  draft: z.boolean().optional(),
  prerelease: z.boolean().optional(),
});

export const newRelease = releaseEdit.extend({ tag_name: z.string().max(200) });

export const releaseFileEdit = z.strictObject({ name: z.string().max(255) });

export const newTag = z.strictObject({
  tag_name: z.string().max(200),
  target: optionalText(200).describe('A branch, a tag or a commit; the default branch without it'),
  message: optionalText(10_000).describe('Makes an annotated tag, which the server signs'),
});

export const generatedNotes = z.strictObject({
  body: z.string(),
  previous: z.string().nullable().describe('The tag that they begin behind'),
});
