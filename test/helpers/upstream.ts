import { readdirSync, readFileSync } from 'node:fs'
import { onTestFinished } from 'vitest'
import { type FakeUpstream, type Settings, startFakeUpstream } from '../../scripts/fake-upstream.mjs'

export { type Answer, countWords, type Entry, type FakeUpstream, type Program, promptText } from '../../scripts/fake-upstream.mjs'

const fixturesFolder = new URL('../fixtures/', import.meta.url)

/** A simulated provider that stops with the test that started it. Call it inside a test; in hooks use `startFakeUpstream` itself. */
export async function upstreamOfTest(settings?: Settings): Promise<FakeUpstream> {
  const upstream = await startFakeUpstream(settings)
  onTestFinished(() => upstream.stop())
  return upstream
}

export { startFakeUpstream }

/** The bytes of a fixture, by its path below `test/fixtures`: `openai-chat/text.sse`. */
export function fixture(path: string): Buffer {
  return readFileSync(new URL(path, fixturesFolder))
}

/** Paths of the fixtures of a folder that end so. */
export function fixturesOf(folder: string, ending = '.sse'): string[] {
  return readdirSync(new URL(`${folder}/`, fixturesFolder))
    .filter((name) => name.endsWith(ending))
    .map((name) => `${folder}/${name}`)
}
