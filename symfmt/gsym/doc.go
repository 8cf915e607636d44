package gsym
