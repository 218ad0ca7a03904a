import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { clients } from '../src/contract/clients/index.ts'
import type { Token } from '../src/contract/entities/token.ts'
import { curlOf, sdkOf } from '../src/web/screens/tokens/snippets.ts'

/** Names and addresses that would run, end a string or end a line in some language of the snippets. */
const hostile = (canary: string) => [
  ...[`$(touch ${canary})`, `\`touch ${canary}\``, `; touch ${canary} #`, `' ; touch ${canary} ; '`, `" ; touch ${canary} ; "`],
  ...[
    `\\' ; touch ${canary} #`,
    `\${IFS}&touch\${IFS}${canary}&`,
    `a\ntouch ${canary}\n`,
    `x | touch ${canary}`,
    `!touch ${canary}`,
  ],
  ...[
    '"""',
    "'''",
    `\${\`x\`}`,
    '{{x}}',
    '</script><script>',
    '\u007f\u0085\u009f',
    '\u2028\u2029',
    '\u202e',
    '\\u0000',
    '-o/etc/x',
    '~root',
  ],
]

const count = clients.flatMap(({ steps }) => steps({ address: 'a', key: 'b', model: 'c' })).length

/** Runs texts in one bash, each in a shell of its own, where no program but the shell exists; returns what it says. */
function inBash(texts: readonly string[]): string {
  const each = ['--norc', '--noprofile', '-c', 'for text; do (eval "$text"); done', 'bash', ...texts]
  return spawnSync('/bin/bash', each, { env: { PATH: '/nonexistent' }, encoding: 'utf8', input: '' }).stderr
}

it(`[T251] in ${count} snippets of clients and two of tokens, no name, key or address runs anything or ends its string`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-snippets-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const canary = join(folder, 'ran')
  let checked = 0
  for (const text of hostile(canary)) {
    for (const setup of [
      { address: `https://gate.example/${text}`, key: 'sk-key', model: 'model' },
      { address: 'https://gate.example', key: text, model: 'model' },
      { address: 'https://gate.example', key: 'sk-key', model: text },
    ]) {
      const token = { key: setup.key, model_limits_enabled: true, model_limits: setup.model.replaceAll(',', '') } as Token
      const written = clients.flatMap(({ steps }) => [...steps(setup)])
      const scripts = written.flatMap((step) => ('text' in step && step.language === 'bash' ? [step.text] : []))
      scripts.push(curlOf({ token: { ...token, key: 'key' }, address: setup.address }))
      // No program of the scripts is found there; every text is a whole one.
      expect(inBash(scripts), text).not.toMatch(/syntax error|unexpected EOF/)
      expect(existsSync(canary), text).toBe(false)
      checked += scripts.length
      for (const step of written) {
        if (!('text' in step) || step.language === 'bash') continue
        if (step.language === 'json') JSON.parse(step.text)
        else requireWhole(step.text, setup)
        checked++
      }
      requireWhole(sdkOf({ token: { ...token, key: 'key' }, address: setup.address }), setup)
    }
  }
  expect(checked).toBeGreaterThan(500)
})

/** A text in a language whose strings are those of JSON: each is whole on its line, and no name is outside of one. */
function requireWhole(text: string, setup: object): void {
  expect(text, JSON.stringify(setup)).not.toMatch(/(?!\n)\p{Cc}/u)
  for (const line of text.split('\n')) {
    // Strings are taken out whole: what is left has no quote.
    const rest = line.replace(/"(?:[^"\\]|\\(?:["\\/bfnrt]|u[\da-f]{4}))*"/g, '')
    expect(rest, text).not.toContain('"')
    expect(rest, text).not.toMatch(/touch|<script>/)
  }
}
