import { bindDeps } from '../../kernel/index.ts';
import type { CiDeps } from '../deps.ts';
import {
  filesOfArtifact,
  finishFileArtifact,
  openArtifactFile,
  openFileArtifact,
  receiveFile,
} from './upload-v3-artifact.ts';
import { authoriseTask } from './authorise-task.ts';
import { artifactFiles, openFileOfArtifact } from './browse-artifact.ts';
import {
  artifactsOfTask,
  listArtifacts,
  openArtifact,
  openBySignedUrl,
  removeArtifact,
  removeArtifactOfTask,
  signedUrlOfArtifact,
} from './list-artifacts.ts';
import { runById } from '../runs/find-run.ts';
import { artifactById, artifactsOfRepository } from './repository-artifacts.ts';
import { assembleArtifact, createArtifact, finishArtifact, receiveArtifact } from './upload-artifact.ts';

/** Artifacts of runs: archives of protocol version 4, files of version 3. */
export function createArtifactService(deps: CiDeps) {
  const bind = bindDeps(deps);
  return {
    authoriseTask: bind(authoriseTask),
    create: bind(createArtifact),
    receive: bind(receiveArtifact),
    assemble: bind(assembleArtifact),
    finish: bind(finishArtifact),
    listOfTask: bind(artifactsOfTask),
    signedUrl: bind(signedUrlOfArtifact),
    openBySignedUrl: bind(openBySignedUrl),
    removeOfTask: bind(removeArtifactOfTask),
    openFileArtifact: bind(openFileArtifact),
    receiveFile: bind(receiveFile),
    finishFileArtifact: bind(finishFileArtifact),
    filesOf: bind(filesOfArtifact),
    openFile: bind(openArtifactFile),
    list: bind(listArtifacts),
    open: bind(openArtifact),
    /** The files in an artifact, and the content of one of them. */
    files: bind(artifactFiles),
    openFileIn: bind(openFileOfArtifact),
    listOfRepository: bind(artifactsOfRepository),
    find: bind(artifactById),
    runById: bind(runById),
    remove: bind(removeArtifact),
  };
}
