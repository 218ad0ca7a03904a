import { describe, expect, it } from 'vitest'
import { HoldShares } from './hold-shares.ts'

const kind = 'openai.chat file gpt-4o'
const perUsd = 500_000
const dayMs = 86_400_000

function sharesOfTest() {
  const clock = { ms: 1_000 }
  const shares = new HoldShares(() => clock.ms)
  const learnFrom = (users: readonly number[], prompt: number, calls = 8) => {
    for (const user of users) for (let call = 0; call < calls; call++) shares.learn(kind, user, { prompt, output: prompt / 2 })
  }
  return { shares, clock, learnFrom }
}

describe('learnt shares', () => {
  it('need twenty calls of three users', () => {
    const { shares, learnFrom } = sharesOfTest()
    learnFrom([1, 2], 0.1)
    expect(shares.shareOf(kind, 9)).toBeUndefined()
    learnFrom([3], 0.1, 3)
    expect(shares.shareOf(kind, 9)).toBeUndefined()
    learnFrom([3], 0.1, 1)
    expect(shares.shareOf(kind, 9)).toEqual({ prompt: 0.125, output: 0.0625 })
    expect(shares.shareOf('another kind', 9)).toBeUndefined()
  })

  it('are not lowered by one user, however many calls they make', () => {
    const { shares, learnFrom } = sharesOfTest()
    learnFrom([1, 2, 3], 0.4)
    learnFrom([4], 0.001, 10_000)
    expect(shares.shareOf(kind, 4)?.prompt).toBe(0.5)
  })

  it("are at least the user's own greatest, and at most the greatest cost", () => {
    const { shares, learnFrom } = sharesOfTest()
    learnFrom([1, 2, 3, 4, 5, 6], 0.1)
    shares.learn(kind, 1, { prompt: 0.6, output: 1 })
    expect(shares.shareOf(kind, 1)).toEqual({ prompt: 0.75, output: 1 })
    expect(shares.shareOf(kind, 2)).toEqual({ prompt: 0.125, output: 0.0625 })
  })
})

describe('what a user may leave unheld', () => {
  it('is bounded over all open calls, and free again when they end within their holds', () => {
    const { shares } = sharesOfTest()
    expect(shares.riskLeft(1, perUsd)).toBe(1_000_000)
    shares.began(1, 'a', 600_000)
    shares.began(1, 'b', 500_000)
    expect(shares.riskLeft(1, perUsd)).toBe(0)
    expect(shares.riskLeft(2, perUsd)).toBe(1_000_000)
    shares.ended(1, 'a')
    expect(shares.riskLeft(1, perUsd)).toBe(500_000)
  })

  it('is less by what calls cost beyond their holds, for a day', () => {
    const { shares, clock } = sharesOfTest()
    shares.began(1, 'a', 600_000)
    shares.ended(1, 'a', 400_000)
    clock.ms += dayMs - 1
    expect(shares.riskLeft(1, perUsd)).toBe(600_000)
    clock.ms += 1
    expect(shares.riskLeft(1, perUsd)).toBe(1_000_000)
  })
})
