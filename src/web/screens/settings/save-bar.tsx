import { Button } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Options } from '../../../contract/options/define.ts'
import { localOf, textOf, useText } from '../../lib/i18n.ts'
import { invalidate } from '../../lib/query.ts'
import { toast } from '../../lib/toast.ts'
import { confirm } from '../../ui/confirm.tsx'
import type { FieldValues } from '../../ui/fields-form.tsx'
import { StickyBar } from '../../ui/sticky-bar.tsx'
import type { Drafts } from './drafts.ts'
import { saveOptions } from './save-options.ts'
import { texts } from './texts.ts'

/** Saves or discards the changes of all tabs. It stays in view. */
export function SaveBar({ drafts }: { drafts: Drafts }) {
  const say = useText(texts)
  const { save, saving } = useSave(drafts)
  const keys = Object.keys(drafts.values)
  const dirty = keys.length > 0
  return (
    <StickyBar label={say('changes')} text={dirty ? say('changeCount', { count: keys.length }) : say('noChanges')} dirty={dirty}>
      {dirty && (
        <Button variant="default" onClick={() => drafts.drop(keys)} disabled={saving}>
          {say('discard')}
        </Button>
      )}
      <Button variant={dirty ? 'filled' : 'default'} onClick={() => void save()} loading={saving}>
        {say('save')}
      </Button>
    </StickyBar>
  )
}

function useSave(drafts: Drafts): { save: () => Promise<void>; saving: boolean } {
  const say = useText(texts)
  const client = useQueryClient()
  const [saving, setSaving] = useState(false)

  async function save(): Promise<void> {
    if (Object.keys(drafts.values).length === 0) return toast.warn(say('nothingChanged'))
    setSaving(true)
    try {
      await saveAll(drafts.values)
    } catch (cause) {
      toast.failureOf(say('failed'), cause)
    } finally {
      setSaving(false)
    }
  }

  async function saveAll(values: FieldValues): Promise<void> {
    // The schemas and their library are heavier than all fields together.
    const [{ sections }, { checkDrafts }] = await Promise.all([
      import('../../../contract/options/index.ts'),
      import('./check-drafts.ts'),
    ])
    const options: Options = Object.assign({}, ...sections.map((section) => section.options))
    const wrong = checkDrafts(options, values)
    if (Object.keys(wrong).length > 0) {
      drafts.setErrors(wrong)
      return toast.error(withNames(say('checkInput'), wrong, options))
    }

    if (values.PasswordLoginEnabled === 'false' && !(await confirmPasswordLoginOff())) return

    const { saved, refused } = await saveOptions(options, values)
    await invalidate(client, ['GET /api/option/', 'GET /api/option/secrets', 'GET /api/status'])
    drafts.drop(saved)
    drafts.setErrors(refused)
    if (Object.keys(refused).length > 0)
      toast.error(withNames(say(saved.length > 0 ? 'partlyFailed' : 'failed'), refused, options))
    else if (saved.length > 0) toast.success(say('saved'))
  }

  return { save, saving }
}

/** The refused options by their labels: their fields may be in another tab. */
function withNames(sentence: string, refused: FieldValues, options: Options): string {
  const names = Object.keys(refused).map((key) => {
    const option = options[key]
    return option ? localOf(option.label) : key
  })
  return textOf(texts, 'refusedNames', { sentence, names: names.join(textOf(texts, 'comma')) })
}

/** Users without another login method, admins too, would be locked out. */
function confirmPasswordLoginOff(): Promise<boolean> {
  return confirm({
    title: textOf(texts, 'passwordLoginOff'),
    body: textOf(texts, 'passwordLoginOffBody'),
    confirmLabel: textOf(texts, 'passwordLoginOffConfirm'),
    danger: true,
  })
}
