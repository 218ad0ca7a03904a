import { readdirSync, readFileSync } from 'node:fs'
import { onTestFinished } from 'vitest'
import { type FakeUpstream, type Settings, startFakeUpstream } from '../../scripts/fake-upstream.mjs'

export { type Answer, countWords, type Entry, type FakeUpstream, type Program, promptText } from '../../scripts/fake-upstream.mjs'

/** Recorded replies are stored beside the codec that reads them. */
const protocols = new URL('../../src/server/gateway/protocols/', import.meta.url)
const folders: Readonly<Record<string, string>> = {
  anthropic: 'anthropic-messages/fixtures/',
  'openai-chat': 'openai-chat/fixtures/openai/',
  'openai-other': 'direct/fixtures/',
}

function folderOf(vendor: string): URL {
  return new URL(folders[vendor] ?? `${vendor}/fixtures/`, protocols)
}

/** A simulated provider that stops with the test that started it. Call it inside a test; in hooks use `startFakeUpstream` itself. */
export async function upstreamOfTest(settings?: Settings): Promise<FakeUpstream> {
  const upstream = await startFakeUpstream(settings)
  onTestFinished(() => upstream.stop())
  return upstream
}

export { startFakeUpstream }

/** The bytes of a fixture, by vendor and name: `openai-chat/text.sse`. */
export function fixture(path: string): Buffer {
  const [vendor = '', name = ''] = path.split('/')
  return readFileSync(new URL(name, folderOf(vendor)))
}

/** Paths of the fixtures of a vendor with this ending. */
export function fixturesOf(vendor: string, ending = '.sse'): string[] {
  return readdirSync(folderOf(vendor))
    .filter((name) => name.endsWith(ending))
    .map((name) => `${vendor}/${name}`)
}
