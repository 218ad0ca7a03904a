import { Box, Select } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ratioColor } from '../../lib/colors.ts'
import { useText } from '../../lib/i18n.ts'
import { usePayer } from '../../lib/payer.ts'
import { read } from '../../lib/query.ts'
import { useSession } from '../../lib/session.ts'
import shared from '../../ui/shared.module.css'
import { Tag } from '../../ui/view/tag.tsx'
import type { TokenFormState } from './form-values.ts'
import { texts } from './texts.ts'
import styles from './tokens.module.css'

interface GroupChoice {
  readonly value: string
  readonly label: string
  readonly help: string
  readonly ratio?: number
}

/** The group that determines the token's channels and prices. */
export function GroupField({ form }: { form: TokenFormState }) {
  const say = useText(texts)
  const choices = useChoices(form.values.group)
  return (
    <Select
      label={say('groupField')}
      description={say('groupHelp')}
      allowDeselect={false}
      searchable={choices.length > 8}
      data={choices.map(({ value, label }) => ({ value, label }))}
      renderOption={({ option }) => <Option choice={choices.find(({ value }) => value === option.value)} />}
      {...form.getInputProps('group')}
    />
  )
}

function useChoices(chosen: string): readonly GroupChoice[] {
  const say = useText(texts)
  const user = useSession()
  const payer = usePayer()
  const own = payer?.group ?? user?.group ?? ''
  const groups = useQuery(read('GET /api/user/self/groups'))
  const usable = Object.entries(groups.data ?? {})
  const known = chosen === '' || chosen === 'auto' || !groups.data || chosen in groups.data
  return [
    {
      value: '',
      label: say(payer ? 'groupPayer' : 'groupOwn', { group: own }),
      help: say(payer ? 'groupPayerHelp' : 'groupOwnHelp'),
      ratio: groups.data?.[own]?.ratio,
    },
    { value: 'auto', label: 'auto', help: say('groupAuto') },
    ...usable.map(([group, { desc, ratio }]) => ({ value: group, label: group, help: desc, ratio })),
    ...(known ? [] : [{ value: chosen, label: chosen, help: say('groupGone') }]),
  ]
}

function Option({ choice }: { choice: GroupChoice | undefined }) {
  const say = useText(texts)
  if (!choice) return null
  const { label, help, ratio } = choice
  return (
    <span className={styles.option}>
      <span>
        {label}
        <Box component="small" display="block" className={shared.note}>
          {help}
        </Box>
      </span>
      {ratio !== undefined && <Tag color={ratioColor(ratio)}>{say('ratio', { ratio })}</Tag>}
    </span>
  )
}
