# Style: text handling.

class Policy:
    def act(self, obs):
        words = 'pick up the red ball'.split()
        return (len(words) + int('red' in words) + ' '.join(words).upper().count('E')) % 3
