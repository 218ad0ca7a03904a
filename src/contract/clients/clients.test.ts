import { describe, expect, it } from 'vitest'
import { clients } from './index.ts'

const plain = { address: 'https://sluice.example', key: 'sk-0123456789', model: 'model-1' }
const textOf = (steps: ReturnType<(typeof clients)[number]['steps']>) =>
  steps.map((step) => ('text' in step ? step.text : step.fields.map(({ value }) => value).join('\n'))).join('\n')

describe('the table of clients', () => {
  it('names each client once', () => {
    for (const names of [clients.map(({ id }) => id), clients.map(({ name }) => name)])
      expect(new Set(names).size).toBe(names.length)
  })

  it.each(clients)('$name is set up with the address, the key and the model', ({ id, steps, documentation }) => {
    const text = textOf(steps(plain))
    expect(text).toContain(plain.address)
    expect(text).toContain(plain.key)
    // Open WebUI lists the models that the gateway offers.
    if (id !== 'open-webui') expect(text).toContain(plain.model)
    expect(documentation).toMatch(/^https:\/\//)
  })

  it.each(clients)('$name keeps its settings valid for any model name', ({ steps }) => {
    const model = `it's "quoted" $HOME \\ \`x\``
    for (const step of steps({ ...plain, model })) {
      if ('fields' in step || !step.text.includes('quoted')) continue
      if (step.language === 'json') expect(JSON.stringify(JSON.parse(step.text))).toContain(JSON.stringify(model).slice(1, -1))
      else if (step.language !== 'bash') expect(step.text).toContain(JSON.stringify(model))
      else expect(step.text).toMatch(/'[^\n]*it'\\''s/)
    }
  })
})
